//! From files to changes.

use std::collections::{BTreeMap, HashMap};

use super::conversion::Conversion;
use super::document::objects::Document;
use super::finding::{Finding, Topic};
use super::settings::Converter;
use super::work::Work;
use crate::manifest::Source;

impl Converter {
    /// Converts all that these sources hold.
    pub fn convert(&self, sources: &[Source]) -> Conversion {
        let mut work = Work {
            converter: self,
            sources,
            documents: Vec::new(),
            index: HashMap::new(),
            pending: BTreeMap::new(),
            conversion: Conversion::default(),
        };
        let mut trees = Vec::new();
        for (at, source) in sources.iter().enumerate() {
            let (nodes, error) = source.documents();
            if let Some(error) = error {
                let place = Some((at, error.place));
                let help = "correct the file; it stays as it is";
                let finding = Finding::new(Topic::Syntax, place, error.message, help);
                work.conversion.findings.push(finding);
                trees.push(None);
                continue;
            }
            for node in &nodes {
                Document::all(node, at, &self.namespace, &mut |it| work.documents.push(it));
            }
            trees.push(Some(nodes));
        }
        work.make_index();
        work.annotations();
        work.requests();
        work.flags();
        work.volumes();
        work.by_hand(&trees);
        work.write(&trees);
        let mut conversion = work.conversion;
        let order = |it: &Finding| {
            let place = it.place.as_ref();
            place.map_or((usize::MAX, 0), |(at, place)| (*at, place.span.start))
        };
        conversion.findings.sort_by_key(order);
        conversion
    }
}
