//! The devices that a machine has, and the reasons why others cannot be used.

use super::Device;

/// A reason why a kind of device cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// The build lacks the feature.
    #[error("this build lacks the feature `{feature}`")]
    NotBuilt {
        /// Its name.
        feature: &'static str,
    },
    /// No `libcuda`.
    #[error("NVIDIA's driver is not installed (no libcuda.so)")]
    NoDriver,
    /// The driver is installed and finds no GPU.
    #[error("there is no NVIDIA GPU: {why}")]
    NoGpu {
        /// The reason that the driver gives.
        why: String,
    },
    /// No `libnvrtc`.
    #[error("NVIDIA's run-time compiler is not installed (no libnvrtc.so)")]
    NoNvrtc,
    /// The CUDA toolkit's headers are missing.
    #[error("the CUDA toolkit's headers are not found")]
    NoToolkit,
    /// No `libvulkan`.
    #[error("the Vulkan loader is not installed (no libvulkan.so)")]
    NoLoader,
    /// No manifest of a Vulkan driver.
    #[error("no Vulkan driver is installed")]
    NoVulkanDriver,
    /// Vulkan drivers are installed and offer no adapter.
    #[error("the installed drivers offer no adapter")]
    NoAdapter,
}

impl Unavailable {
    /// How to make the device available.
    pub fn fix(&self) -> String {
        let text = match self {
            Self::NotBuilt { feature } => return format!("build with `--features {feature}`"),
            Self::NoDriver => {
                "install the driver from NVIDIA or the distribution; in a container, start it with the GPUs (`docker run --gpus all`)"
            }
            Self::NoGpu { .. } => {
                "check `nvidia-smi` and CUDA_VISIBLE_DEVICES; after an update of the driver, restart the machine"
            }
            Self::NoNvrtc => {
                "install the CUDA toolkit, or put the folder of libnvrtc.so on LD_LIBRARY_PATH"
            }
            Self::NoToolkit => "install the CUDA toolkit, and set CUDA_PATH to its folder",
            Self::NoLoader => "install it (Debian: `libvulkan1`)",
            Self::NoVulkanDriver => {
                "install the GPU's driver; Debian's `mesa-vulkan-drivers` has AMD's and Intel's, and one in software"
            }
            Self::NoAdapter => {
                "install the GPU's own driver, and let the user open /dev/dri (Debian: groups `render`, `video`)"
            }
        };
        text.to_owned()
    }
}

/// A device that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Available {
    /// The device.
    pub device: Device,
    /// The name that its driver gives it.
    pub name: String,
    /// Whether it is a GPU emulated in software, which is correct and slow.
    pub software: bool,
}

/// What this machine and build have of one kind of device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceReport {
    /// `cpu`, `wgpu` or `cuda`.
    pub kind: &'static str,
    /// The devices that can be used.
    pub found: Vec<Available>,
    /// Why there is none; empty if a device was found.
    pub problems: Vec<Unavailable>,
}
