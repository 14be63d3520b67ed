//! Queries that are under way on a queue, and the monitors that count for them.

use std::sync::Arc;

use ash::vk;
use vc4_kernel_abi::{GpuError, PerfmonId};

use crate::objects::device::Device;
use crate::objects::query::{Asked, Counts, Drawn, Monitor};

/// Queries that have begun and not ended. A job has one monitor, so wherever the set changes, a new one begins.
#[derive(Default)]
pub(super) struct Queries {
    occlusion: Option<Counts>,
    statistics: Option<Counts>,
    monitor: Option<Arc<Monitor>>,
}

impl Queries {
    fn under_way(&mut self) -> impl Iterator<Item = &mut Counts> {
        self.occlusion.iter_mut().chain(&mut self.statistics)
    }

    /// A query begins.
    pub fn begin(&mut self, device: &Device, asked: Asked) -> Result<(), GpuError> {
        match asked {
            Asked::Occlusion { .. } => self.occlusion = Some(Counts::default()),
            Asked::Statistics => self.statistics = Some(Counts::default()),
        }
        self.change_monitor(device)
    }

    /// The query of a type ends: what it counted, nothing if none is under way.
    pub fn end(&mut self, device: &Device, ty: vk::QueryType) -> Result<Counts, GpuError> {
        let query = match ty {
            vk::QueryType::PIPELINE_STATISTICS => &mut self.statistics,
            _ => &mut self.occlusion,
        };
        let Some(counts) = query.take() else { return Ok(Counts::default()) };
        self.change_monitor(device)?;
        Ok(counts)
    }

    fn change_monitor(&mut self, device: &Device) -> Result<(), GpuError> {
        self.monitor = None;
        if self.under_way().next().is_some() {
            let monitor = Arc::new(Monitor::new(device)?);
            self.under_way().for_each(|counts| counts.monitors.push(monitor.clone()));
            self.monitor = Some(monitor);
        }
        Ok(())
    }

    /// What counts for them.
    pub fn monitor(&self) -> Option<PerfmonId> {
        self.monitor.as_ref().map(|monitor| monitor.id())
    }

    /// Whether anybody wants to know what is drawn.
    pub fn want_statistics(&self) -> bool {
        self.statistics.is_some()
    }

    /// Notes what commands say of themselves.
    pub fn add(&mut self, drawn: &Drawn) {
        if let Some(statistics) = &mut self.statistics {
            statistics.drawn.add(drawn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

    #[test]
    fn each_query_has_the_monitors_of_its_time() {
        let device = device();
        let mut queries = Queries::default();
        assert_eq!(queries.monitor(), None);
        queries.begin(&device, Asked::Statistics).unwrap();
        let first = queries.monitor().unwrap();
        queries.begin(&device, Asked::Occlusion { exact: false }).unwrap();
        let second = queries.monitor().unwrap();
        queries.add(&Drawn { vertices: 3, ..Drawn::default() });
        let ids = |counts: &Counts| counts.monitors.iter().map(|monitor| monitor.id()).collect::<Vec<_>>();
        let statistics = queries.end(&device, vk::QueryType::PIPELINE_STATISTICS).unwrap();
        assert_eq!((ids(&statistics), statistics.drawn.vertices), (vec![first, second], 3));
        let third = queries.monitor().unwrap();
        let occlusion = queries.end(&device, vk::QueryType::OCCLUSION).unwrap();
        assert_eq!((ids(&occlusion), occlusion.drawn.vertices), (vec![second, third], 0));
        assert_eq!((queries.monitor(), queries.want_statistics()), (None, false));
        assert!(queries.end(&device, vk::QueryType::OCCLUSION).unwrap().monitors.is_empty());
        // Who reads them ends them.
        drop(statistics);
        assert!(device.gpu().perfmon_values(first).is_err());
        assert!(device.gpu().perfmon_values(second).is_ok());
    }
}
