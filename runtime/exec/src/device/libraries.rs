//! Looks for the libraries and drivers that GPUs need, in the places where the system's loader
//! looks.
//!
//! It reads the environment variables of those loaders (`LD_LIBRARY_PATH`, `CUDA_PATH`,
//! `VK_DRIVER_FILES`, `VK_ICD_FILENAMES`, `HOME`) and runs `ldconfig` and `nvidia-smi`, to say what is
//! missing on a machine.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::availability::Unavailable;

/// What CUDA needs.
pub(super) struct Nvidia {
    /// `libcuda`, which comes with the driver.
    pub driver: bool,
    /// `libnvrtc`, which compiles kernels.
    pub nvrtc: bool,
    /// The toolkit's folder, whose headers kernels include.
    pub toolkit: bool,
}

impl Nvidia {
    pub fn read() -> Self {
        let libraries = libraries();
        // Other systems' linkers are not asked: there, the list of GPUs stands for the driver.
        let has = |name: &str| !cfg!(target_os = "linux") || named(&libraries, name);
        // Runtime images have the folder without the headers; Debian's are the compiler's own.
        let named = std::env::var_os("CUDA_PATH").map(PathBuf::from);
        let folders = named
            .into_iter()
            .chain(["/usr/local/cuda".into(), "/opt/cuda".into()]);
        let mut headers = folders.map(|folder| folder.join("include"));
        Self {
            driver: has("libcuda.so"),
            nvrtc: has("libnvrtc.so"),
            toolkit: !cfg!(target_os = "linux")
                || headers.any(|folder| folder.exists())
                || Path::new("/usr/bin/nvcc").exists(),
        }
    }

    /// Whether CUDA itself can be asked for its GPUs: without the driver, that ends the process.
    pub fn answers(&self) -> bool {
        self.driver && (cfg!(target_os = "linux") || nvidia_gpus().is_ok())
    }

    /// The first missing library or driver, given how many GPUs were found (or why none).
    pub fn problem(&self, gpus: Result<usize, String>) -> Option<Unavailable> {
        let no_gpu = |why: &str| Unavailable::NoGpu {
            why: why.to_owned(),
        };
        if !self.driver {
            return Some(Unavailable::NoDriver);
        }
        match gpus {
            Err(why) => return Some(no_gpu(&why)),
            Ok(0) => return Some(no_gpu("the driver lists none")),
            Ok(_) => {}
        }
        if !self.nvrtc {
            return Some(Unavailable::NoNvrtc);
        }
        (!self.toolkit).then_some(Unavailable::NoToolkit)
    }
}

/// What Vulkan needs.
pub(super) struct Vulkan {
    /// `libvulkan`.
    pub loader: bool,
    /// File names of the drivers' manifests.
    pub drivers: Vec<String>,
}

impl Vulkan {
    pub fn read() -> Self {
        Self {
            loader: named(&libraries(), "libvulkan.so"),
            drivers: vulkan_drivers(),
        }
    }

    pub fn problem(&self) -> Option<Unavailable> {
        // macOS has Metal.
        if !cfg!(target_os = "linux") {
            None
        } else if !self.loader {
            Some(Unavailable::NoLoader)
        } else if self.drivers.is_empty() {
            Some(Unavailable::NoVulkanDriver)
        } else {
            None
        }
    }
}

fn named(libraries: &BTreeSet<String>, start: &str) -> bool {
    let version = |name: &String| {
        let rest = name.strip_prefix(start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    libraries.iter().any(version)
}

/// Names of the libraries that the dynamic linker finds by name.
fn libraries() -> BTreeSet<String> {
    let paths = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = std::env::split_paths(&paths).chain(["/lib".into(), "/usr/lib".into()]);
    let mut names: BTreeSet<String> = folders.flat_map(|folder| files(&folder)).collect();
    let cache = ["ldconfig", "/sbin/ldconfig"]
        .iter()
        .find_map(|ldconfig| Command::new(ldconfig).arg("-p").output().ok());
    let listed = cache.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let lines = listed.iter().flat_map(|text| text.lines());
    names.extend(lines.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())));
    names
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |entry: std::fs::DirEntry| entry.file_name().into_string().ok();
    entries.filter_map(name).collect()
}

/// `nvidia-smi` says why where there is no GPU; where it is not installed, the kernel's module
/// knows the GPUs.
pub(super) fn nvidia_gpus() -> Result<usize, String> {
    match Command::new("nvidia-smi").arg("--list-gpus").output() {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            Ok(text.lines().count())
        }
        Ok(output) => {
            let said = [output.stderr, output.stdout].concat();
            let text = String::from_utf8_lossy(&said);
            Err(text
                .trim()
                .lines()
                .next()
                .unwrap_or("it says nothing")
                .to_owned())
        }
        Err(error) => {
            let gpus = files(Path::new("/proc/driver/nvidia/gpus"));
            if gpus.is_empty() {
                Err(format!("`nvidia-smi` does not run ({error})"))
            } else {
                Ok(gpus.len())
            }
        }
    }
}

/// Where the Vulkan loader looks for drivers.
fn vulkan_drivers() -> Vec<String> {
    for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        if let Some(paths) = std::env::var_os(variable) {
            let paths = std::env::split_paths(&paths).filter(|path| path.exists());
            let name = |path: std::path::PathBuf| path.file_name().map(OsStr::to_owned);
            let names = paths.filter_map(|path| name(path)?.into_string().ok());
            return names.collect();
        }
    }
    let home = std::env::var("HOME").map(|home| home + "/.local/share");
    let fixed = ["/etc", "/usr/local/etc", "/usr/local/share", "/usr/share"];
    let folders = fixed.map(str::to_owned).into_iter().chain(home);
    let icds = folders.flat_map(|folder| files(&Path::new(&folder).join("vulkan/icd.d")));
    icds.filter(|name| name.ends_with(".json")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nvidia() -> Nvidia {
        Nvidia {
            driver: true,
            nvrtc: true,
            toolkit: true,
        }
    }

    #[test]
    fn the_first_missing_part_of_cuda_is_named() {
        assert_eq!(nvidia().problem(Ok(1)), None);
        let nothing = Nvidia {
            driver: false,
            nvrtc: false,
            toolkit: false,
        };
        let none = || Err("no `nvidia-smi`".to_owned());
        assert_eq!(nothing.problem(none()), Some(Unavailable::NoDriver));
        let empty = nvidia().problem(Ok(0)).unwrap();
        assert!(empty.to_string().contains("lists none"), "{empty}");
        let why = "driver/library version mismatch".to_owned();
        let mismatch = nvidia().problem(Err(why)).unwrap();
        assert!(mismatch.to_string().contains("version mismatch"));
        let nvrtc = false;
        let kernels = Nvidia { nvrtc, ..nvidia() }.problem(Ok(1));
        assert_eq!(kernels, Some(Unavailable::NoNvrtc));
        let toolkit = false;
        let headers = Nvidia {
            toolkit,
            ..nvidia()
        }
        .problem(Ok(1));
        assert_eq!(headers, Some(Unavailable::NoToolkit));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_first_missing_part_of_vulkan_is_named() {
        let problem = |loader, drivers: &[&str]| {
            let drivers = drivers.iter().map(ToString::to_string).collect();
            Vulkan { loader, drivers }.problem()
        };
        assert_eq!(problem(false, &[]), Some(Unavailable::NoLoader));
        assert_eq!(problem(true, &[]), Some(Unavailable::NoVulkanDriver));
        assert_eq!(problem(true, &["lvp_icd.x86_64.json"]), None);
    }

    #[test]
    fn libraries_are_known_by_any_version() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        assert!(named(&names(&["libcuda.so.1"]), "libcuda.so"));
        assert!(named(&names(&["libcuda.so"]), "libcuda.so"));
        assert!(!named(
            &names(&["libcudart.so.12", "libcuda.so2"]),
            "libcuda.so"
        ));
    }
}
