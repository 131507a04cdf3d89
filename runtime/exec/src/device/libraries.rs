//! Finds out which of the libraries and drivers that GPUs need are installed, to say what is missing on a
//! machine.
//!
//! It looks where the system's loaders look. It reads their environment variables (`LD_LIBRARY_PATH`,
//! `CUDA_PATH`, `VK_DRIVER_FILES`, `VK_ICD_FILENAMES`, `HOME`), and runs `ldconfig` and `nvidia-smi`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::availability::Unavailable;

/// Which of the requirements of CUDA are installed.
pub(super) struct Nvidia {
    /// Whether `libcuda` is installed, which comes with the driver.
    pub driver: bool,
    /// Whether `libnvrtc` is installed, which compiles kernels at run time.
    pub nvrtc: bool,
    /// Whether the CUDA toolkit's headers are installed, which kernels include.
    pub toolkit: bool,
}

impl Nvidia {
    pub fn detect() -> Self {
        let libraries = library_names();
        // Only Linux has `ldconfig`. On other systems the libraries are assumed to be installed, and
        // `nvidia-smi` tells whether there is a driver.
        let has = |name: &str| !cfg!(target_os = "linux") || has_library(&libraries, name);
        // The folder of the toolkit is not enough: CUDA's runtime images have it without the headers.
        // Debian's package of `nvcc` puts the headers where the compiler finds them.
        let cuda_path = std::env::var_os("CUDA_PATH").map(PathBuf::from);
        let folders = cuda_path
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

    /// Whether CUDA can be asked for its GPUs. Without a driver, asking ends the process.
    pub fn can_list_gpus(&self) -> bool {
        self.driver && (cfg!(target_os = "linux") || nvidia_gpus().is_ok())
    }

    /// The first missing requirement. `gpus` is the number of GPUs, or the reason why none was found.
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

/// Which of the requirements of Vulkan are installed.
pub(super) struct Vulkan {
    /// Whether the loader, `libvulkan`, is installed.
    pub loader: bool,
    /// The file names of the drivers' manifests; empty if there is no driver.
    pub drivers: Vec<String>,
}

impl Vulkan {
    pub fn detect() -> Self {
        Self {
            loader: has_library(&library_names(), "libvulkan.so"),
            drivers: vulkan_drivers(),
        }
    }

    /// The first missing requirement.
    pub fn problem(&self) -> Option<Unavailable> {
        // Other systems, such as macOS with Metal, are not checked.
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

/// Whether a library such as `libcuda.so` is among the file names, in any version (`libcuda.so.1`).
fn has_library(file_names: &BTreeSet<String>, library: &str) -> bool {
    let is_version = |name: &String| {
        let version = name.strip_prefix(library);
        version.is_some_and(|version| version.is_empty() || version.starts_with('.'))
    };
    file_names.iter().any(is_version)
}

/// The file names of the libraries that the dynamic linker finds.
fn library_names() -> BTreeSet<String> {
    let paths = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = std::env::split_paths(&paths).chain(["/lib".into(), "/usr/lib".into()]);
    let mut names: BTreeSet<String> = folders.flat_map(|folder| file_names(&folder)).collect();
    let cache = ["ldconfig", "/sbin/ldconfig"]
        .iter()
        .find_map(|ldconfig| Command::new(ldconfig).arg("-p").output().ok());
    let listed = cache.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let lines = listed.iter().flat_map(|text| text.lines());
    names.extend(lines.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())));
    names
}

/// The names of the files in a folder; none if the folder cannot be read.
fn file_names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |entry: std::fs::DirEntry| entry.file_name().into_string().ok();
    entries.filter_map(name).collect()
}

/// The number of NVIDIA GPUs, or the reason why there is none. `nvidia-smi` gives the number or the reason.
/// If it is not installed, the files of the driver's kernel module are counted.
pub(super) fn nvidia_gpus() -> Result<usize, String> {
    match Command::new("nvidia-smi").arg("--list-gpus").output() {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            Ok(text.lines().count())
        }
        Ok(output) => {
            let output = [output.stderr, output.stdout].concat();
            let text = String::from_utf8_lossy(&output);
            Err(text
                .trim()
                .lines()
                .next()
                .unwrap_or("it says nothing")
                .to_owned())
        }
        Err(error) => {
            let gpus = file_names(Path::new("/proc/driver/nvidia/gpus"));
            if gpus.is_empty() {
                Err(format!("`nvidia-smi` does not run ({error})"))
            } else {
                Ok(gpus.len())
            }
        }
    }
}

/// The file names of the drivers' manifests, in the places where the Vulkan loader looks for them.
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
    let icds = folders.flat_map(|folder| file_names(&Path::new(&folder).join("vulkan/icd.d")));
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
        assert!(has_library(&names(&["libcuda.so.1"]), "libcuda.so"));
        assert!(has_library(&names(&["libcuda.so"]), "libcuda.so"));
        assert!(!has_library(
            &names(&["libcudart.so.12", "libcuda.so2"]),
            "libcuda.so"
        ));
    }
}
