//! The clocks on which the times of an event are written.

use std::{collections::HashMap, rc::Rc};

use super::content_line::ContentLine;
use super::file_zone::FileZone;
use crate::zone::{local::Local, time_zone::Zone, windows};

/// The clocks of an event, on which it lasts whole days. What is written without a `Z` is theirs;
/// a moment of UTC may be of another date there: RFC 5545, 3.3.10, asks for one in `UNTIL`.
#[derive(Clone, Debug)]
pub(super) enum EventClock {
    /// Those of wherever it is read, which need not be known.
    AsWritten,
    /// Those of UTC.
    Utc,
    /// Those of a zone.
    Zone(Zone),
    /// Those of a zone that the file defines.
    OfFile(Rc<FileZone>),
    /// Those of a zone that is only known to who wrote it.
    Unknown,
}

/// The zones that a file defines, by their `TZID`.
pub(super) type FileZones = HashMap<String, Rc<FileZone>>;

const HALF_A_DAY: i64 = 12 * 3600;

/// Clocks differ from UTC by whole quarters of an hour.
const QUARTER: i64 = 15 * 60;

impl EventClock {
    /// Those of an event that begins with this line.
    pub(super) fn of_start(line: &ContentLine, zones: &FileZones) -> Self {
        if line.is_date() {
            Self::AsWritten
        } else if line.value().ends_with(['Z', 'z']) {
            Self::Utc
        } else {
            Self::named_by(line, zones)
        }
    }

    /// Those that the `TZID` of a line names.
    pub(super) fn named_by(line: &ContentLine, zones: &FileZones) -> Self {
        let Some(name) = line.parameter("TZID") else {
            return Self::AsWritten;
        };
        let known = known_zone(name).map(Self::Zone);
        let known = known.or_else(|| zones.get(name).cloned().map(Self::OfFile));
        known.unwrap_or(Self::Unknown)
    }

    /// What they show at a moment of UTC.
    pub(super) fn shown(&self, utc: Local) -> Local {
        match self {
            Self::AsWritten | Self::Utc => utc,
            Self::Zone(zone) => Local(utc.0 + zone.offset(utc.0)),
            Self::OfFile(zone) => Local(utc.0 + zone.offset(utc.0)),
            // Recurrences begin at midnight, and end at one or in the second before: the nearest
            // midnight is meant.
            Self::Unknown => {
                let midnight = Local::on(Local(utc.0 + HALF_A_DAY).day(), 0);
                let is_second_before = utc.after().0.rem_euclid(QUARTER) == 0;
                if is_second_before {
                    midnight.before()
                } else {
                    midnight
                }
            }
        }
    }

    /// What they show when others show that; the same where either is not known.
    pub(super) fn shown_when(&self, others: &Self, shown: Local) -> Local {
        let utc = match (self, others) {
            (Self::AsWritten | Self::Unknown, _) | (_, Self::AsWritten | Self::Unknown) => {
                return shown;
            }
            (_, Self::Utc) => shown,
            (_, Self::Zone(zone)) => Local(zone.second_of(shown)),
            (_, Self::OfFile(zone)) => Local(zone.second_of(shown)),
        };
        self.shown(utc)
    }
}

/// The zone of the IANA database that a `TZID` names: by its name there, which may stand behind that
/// of who wrote it (`/freeassociation.sourceforge.net/Europe/Berlin`; RFC 5545, 3.2.19), or by that
/// of Windows.
pub(super) fn known_zone(name: &str) -> Option<Zone> {
    let mut endings = std::iter::successors(Some(name), |it| Some(it.split_once('/')?.1));
    endings
        .find_map(Zone::named)
        .or_else(|| Zone::named(windows::iana_name(name)?))
}
