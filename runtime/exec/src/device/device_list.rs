//! A list of devices that share the clients of a round.

use std::fmt;

use super::{Device, DeviceError};

/// Devices that share the clients of a round, each of them once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Devices {
    first: Device,
    /// The devices after the first; empty if there is one device.
    more: Vec<Device>,
}

impl Devices {
    /// Parses a list such as `cuda:0,cuda:1`. Each name is one that [`Device::choose`] accepts.
    ///
    /// # Errors
    ///
    /// A name is unknown, or two names are those of the same device.
    pub fn choose(text: &str) -> Result<Self, DeviceError> {
        let mut names = text.split(',').map(str::trim);
        let mut this = Self {
            first: Device::choose(names.next().unwrap_or_default())?,
            more: vec![],
        };
        for name in names {
            let device = Device::choose(name)?;
            if this.all().any(|known| known == device) {
                return Err(DeviceError::Twice { device });
            }
            this.more.push(device);
        }
        Ok(this)
    }

    /// The first device, which also does the server's work and the evaluation.
    pub fn first(&self) -> Device {
        self.first
    }

    /// The devices after the first.
    pub fn more(&self) -> &[Device] {
        &self.more
    }

    /// All devices, in the order of the list.
    pub fn all(&self) -> impl Iterator<Item = Device> {
        std::iter::once(self.first).chain(self.more.iter().copied())
    }
}

impl From<Device> for Devices {
    fn from(first: Device) -> Self {
        Self {
            first,
            more: vec![],
        }
    }
}

impl fmt::Display for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        self.more
            .iter()
            .try_for_each(|device| write!(f, ",{device}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_round_trip() {
        for text in ["cpu", "wgpu,cpu", "cuda,cuda:1,wgpu:3"] {
            assert_eq!(Devices::choose(text).unwrap().to_string(), text);
        }
        let spaced = Devices::choose("cuda:0, flex").unwrap();
        assert_eq!(spaced.to_string(), "cuda,cpu");
        assert_eq!(
            (spaced.first(), spaced.more()),
            (Device::Cuda(0), &[Device::Cpu][..])
        );
    }

    #[test]
    fn a_device_is_named_once() {
        for (text, device) in [("cpu,flex", "cpu"), ("wgpu:1,cpu,wgpu:1", "wgpu:1")] {
            let error = Devices::choose(text).unwrap_err().to_string();
            let words = format!("`{device}` is named twice;");
            assert!(error.starts_with(&words), "{error}");
        }
        for text in ["", "cpu,", ",cpu", "cpu,tpu"] {
            let error = Devices::choose(text).unwrap_err();
            assert!(matches!(error, DeviceError::Unknown { .. }), "{error}");
        }
    }
}
