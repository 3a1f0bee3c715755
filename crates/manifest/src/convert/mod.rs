//! From files to changes.

mod by_hand;
mod conversion;
mod cron_hpa;
mod desired;
mod document;
mod downscaler;
mod edit;
mod keda;
mod kube_green;
mod landing;
mod requests;
mod verify;
mod week;
mod work;

use std::collections::{BTreeMap, HashMap};

use crate::{
    convert::{document::Document, work::ConversionRun},
    source::SourceFile,
};

pub use self::conversion::{
    ChangeTarget, Conversion, ConversionFinding, Converter, ObjectChange, ObjectRef, SpanDefaults,
    Topic,
};

impl Converter {
    /// Converts all that these sources hold.
    pub fn convert(&self, sources: &[SourceFile]) -> Conversion {
        let mut work = ConversionRun {
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
                let finding = ConversionFinding::new(Topic::Syntax, place, error.message, help);
                work.conversion.findings.push(finding);
                trees.push(None);
                continue;
            }
            for node in &nodes {
                Document::all(node, at, &self.namespace, &mut |document| {
                    work.documents.push(document);
                });
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
        let order = |finding: &ConversionFinding| {
            let place = finding.place.as_ref();
            place.map_or((usize::MAX, 0), |(at, place)| (*at, place.span.start))
        };
        conversion.findings.sort_by_key(order);
        conversion
    }
}
