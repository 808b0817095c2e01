//! Resources on the wire: the vector of `domain`, and where its ports begin.

use crate::Capacity;
use domain::resources::Resources;

impl Capacity {
    /// `resources` with ports from `port_first`.
    #[must_use]
    pub const fn new(resources: Resources, port_first: u16) -> Self {
        Self {
            cpu_millis: resources.cpu_millis,
            memory_mib: resources.memory_mib,
            disk_mib: resources.disk_mib,
            iops: resources.iops,
            port_first: port_first as u32,
            port_count: resources.ports,
        }
    }

    /// The vector, without the first port.
    #[must_use]
    pub const fn resources(&self) -> Resources {
        Resources {
            cpu_millis: self.cpu_millis,
            memory_mib: self.memory_mib,
            disk_mib: self.disk_mib,
            iops: self.iops,
            ports: self.port_count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_come_back_as_they_were_sent() {
        let resources =
            Resources { cpu_millis: 250, memory_mib: 512, disk_mib: 1024, iops: 50, ports: 2 };
        let sent = Capacity::new(resources, 20_000);
        assert_eq!(sent.resources(), resources);
        assert_eq!((sent.port_first, sent.port_count), (20_000, 2));
    }
}
