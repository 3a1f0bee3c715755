//! Rows of a user's own.

use crate::kinds::{
    count::CountKind,
    kind::Kind,
    not_stopped::NotStopped,
    row::{CountForm, Discovery, Part, Pods, ReadyForm, Row, Serving, Shape, leaked},
    switch::{Switch, SwitchConstant},
    table::{self, DefinitionError, MAX_DEFINITIONS},
};

/// A kind that a user describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindDefinition {
    /// `Widget`
    pub name: String,
    /// `widgets`
    pub plural: String,
    /// `example.com`
    pub group: String,
    /// Where it holds its count or its switch, as the tokens of a JSON pointer: below `spec`, or an
    /// annotation.
    pub path: Vec<String>,
    /// What stands there.
    pub holds: Holds,
    /// Where it says which pods it runs, if that is not its count and the template of its pods.
    pub size: Vec<PartDefinition>,
}

/// A [`Part`] that a user describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartDefinition {
    /// [`Part::list`]
    pub list: Vec<String>,
    /// [`Part::instances`]
    pub instances: Option<Vec<String>>,
    /// [`Part::resources`]
    pub resources: Option<Vec<String>>,
}

/// What stands in the field of a kind that a user describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A number of replicas.
    Replicas,
    /// A number of replicas that comes back as it was and is never another.
    Exact,
    /// The instant of its stop, or nothing.
    Time,
    /// One value while it is stopped, and another or none while it runs.
    Switch {
        /// What a stop writes.
        stopped: SwitchText,
        /// What a start writes where nothing says what was there; none where the field goes.
        running: Option<SwitchText>,
        /// Whether an object without the field is stopped.
        is_absent_stopped: bool,
        /// A field beside which this one means something else, as the tokens of a JSON pointer.
        not_beside: Option<Vec<String>>,
    },
}

/// A value of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchText {
    /// `true` or `false`.
    Flag(bool),
    /// A text.
    Text(String),
}

impl KindDefinition {
    /// Takes the kind up, for as long as the process runs.
    ///
    /// # Errors
    /// It is known, there are too many, or no stop would do anything.
    pub fn take_up(self) -> Result<Kind, DefinitionError> {
        let not_stopped = NotStopped::from_resource(&self.plural, &self.group);
        if let Some(not_stopped) = not_stopped.filter(|kind| kind.is_by(&self.path)) {
            return Err(DefinitionError::StopsNothing(not_stopped));
        }
        let (form, counts) = match self.holds {
            Holds::Replicas => (CountForm::Number(1), CountKind::Replicas),
            Holds::Exact => (CountForm::Number(1), CountKind::Exact),
            Holds::Time => (CountForm::Switch(&BY_TIME), CountKind::Switch),
            Holds::Switch {
                stopped,
                running,
                is_absent_stopped,
                not_beside,
            } => {
                let switch = Switch {
                    stopped: constant(stopped),
                    also_stopped: &[],
                    running: running.map(constant),
                    is_absent_stopped,
                    not_beside: not_beside.map(tokens),
                };
                let form = CountForm::Switch(Box::leak(Box::new(switch)));
                (form, CountKind::Switch)
            }
        };
        let resource = leaked(format!("{}.{}", self.plural, self.group));
        let size = self.size.into_iter().map(|part| Part {
            list: tokens(part.list),
            instances: part.instances.map(tokens),
            resources: part.resources.map(tokens),
            ..Part::POD
        });
        let row = Row {
            place: Row::NAMED,
            group: leaked(self.group),
            plural: leaked(self.plural),
            short: resource,
            argument: resource,
            serving: Serving::Discovered(Discovery::new(leaked(self.name))),
            path: tokens(self.path),
            form,
            counts,
            shape: Shape::Custom,
            pods: Pods::None,
            size: Box::leak(size.collect()),
            ready: if counts.is_replicas() {
                ReadyForm::ReplicasIfShown
            } else {
                ReadyForm::Nowhere
            },
            has_claim_policy: false,
        };
        let kind = table::add(row, MAX_DEFINITIONS).map(Kind)?;
        kind.mark_named();
        Ok(kind)
    }
}

/// Stopped by the instant of its stop.
const BY_TIME: Switch = Switch {
    stopped: SwitchConstant::Instant,
    also_stopped: &[],
    running: None,
    is_absent_stopped: false,
    not_beside: None,
};

fn constant(text: SwitchText) -> SwitchConstant {
    match text {
        SwitchText::Flag(flag) => SwitchConstant::Flag(flag),
        SwitchText::Text(text) => SwitchConstant::Text(leaked(text)),
    }
}

fn tokens(path: Vec<String>) -> &'static [&'static str] {
    let tokens: Vec<&'static str> = path.into_iter().map(leaked).collect();
    Box::leak(tokens.into_boxed_slice())
}
