//! What annotations ask for, read once for all objects that say the same.

use std::{collections::HashMap, sync::Arc};

use crate::{
    schedule::Zone,
    workload::{Inputs, Reading, read},
};

/// Equal inputs and what was read from them: ten thousand objects with five texts between them
/// hold five schedules, and refusals are shared no less.
pub(super) struct Readings {
    default_zone: Zone,
    known: HashMap<Arc<Inputs>, Arc<Reading>>,
    limit: usize,
}

impl Readings {
    pub(super) fn new(default_zone: Zone) -> Self {
        Self {
            default_zone,
            known: HashMap::new(),
            limit: 64,
        }
    }

    /// The reading of these inputs, and the one copy of the inputs that is kept.
    pub(super) fn of(&mut self, inputs: &Arc<Inputs>) -> (Arc<Inputs>, Arc<Reading>) {
        if let Some((inputs, reading)) = self.known.get_key_value(inputs) {
            return (inputs.clone(), reading.clone());
        }
        if self.known.len() >= self.limit {
            self.known
                .retain(|_, reading| Arc::strong_count(reading) > 1);
            self.limit = 64.max(2 * self.known.len());
        }
        let reading = Arc::new(read(inputs, self.default_zone));
        self.known.insert(inputs.clone(), reading.clone());
        (inputs.clone(), reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Key;

    fn inputs(text: &str) -> Arc<Inputs> {
        Arc::new(Inputs::default().with(Key::Start, text))
    }

    #[test]
    fn equal_texts_share_one_reading_and_forgotten_ones_go() {
        let mut readings = Readings::new(Zone::UTC);
        let (kept, first) = readings.of(&inputs("09:00"));
        let (again, second) = readings.of(&inputs("09:00"));
        assert!(Arc::ptr_eq(&first, &second) && Arc::ptr_eq(&kept, &again));
        for minute in 0..600 {
            readings.of(&inputs(&format!("{:02}:{:02}", minute / 60, minute % 60)));
        }
        assert!(readings.known.len() <= 64, "{}", readings.known.len());
        assert!(Arc::ptr_eq(&first, &readings.of(&kept).1));
    }
}
