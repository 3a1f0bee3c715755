//! EndpointSlices, which show whether the Services are ready that starts wait for.

use dayshift_cluster::{read::ServiceSlice, watch::ReflectorEvent};
use dayshift_workload::Dependency;
use k8s_openapi::api::discovery::v1::EndpointSlice;

use crate::{ids::WatchId, reconcile::engine::Engine, settings::Watched};

impl Engine {
    pub(super) fn observe_slices(&mut self, watch: WatchId, event: ReflectorEvent<EndpointSlice>) {
        match event {
            ReflectorEvent::Opened { .. } => self.opened(watch),
            ReflectorEvent::Failed(error) => self.watch_failed(Watched::Services, watch, &error),
            ReflectorEvent::InitApply(slice) | ReflectorEvent::Apply(slice) => {
                self.look_at_slice(&slice, false);
            }
            ReflectorEvent::Delete(slice) => self.look_at_slice(&slice, true),
            ReflectorEvent::Init => {
                let namespace = self.watches.namespace(watch);
                self.index.services.begin_list(namespace.as_deref());
            }
            ReflectorEvent::Done => {
                let namespace = self.watches.namespace(watch);
                self.index.services.end_list(namespace.as_deref());
                self.listed(watch);
                self.look_at_all_waits();
            }
        }
    }

    fn look_at_slice(&mut self, slice: &EndpointSlice, is_gone: bool) {
        let Some(slice) = ServiceSlice::of(slice) else {
            return;
        };
        if is_gone {
            self.index.services.remove(&slice);
        } else {
            self.index.services.observe(&slice);
        }
        if self.waits.count() > 0 {
            self.look_at_waits(&slice.namespace, &Dependency::service(&slice.service));
        }
    }
}
