//! The subcommand `fedround doctor`: the devices of this machine, and what is missing for the others.

use std::process::Command;

use clap::Args;
use fedround_exec::Device;
use fedround_exec::device::{Available, DeviceReport, devices};
use serde::Serialize;

use crate::error::CliError;
use crate::files::json;
use crate::terminal::print;
use crate::terminal::table::wrapped;

const EXAMPLES: &str = "\
Each device multiplies two small matrices, in a process of its own.

Examples:
  fedround doctor
  fedround doctor --device cuda:0      only the first NVIDIA GPU; exit code 1 if it cannot be used";

/// Says which devices this build can use on this machine. Each one that is there multiplies two
/// small matrices, in a process of its own: what a broken driver does to it is reported too.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArgs {
    /// Only check this one: cpu, wgpu[:N], cuda[:N] or auto
    #[arg(long, value_name = "D")]
    pub device: Option<String>,
    /// Print JSON, as docs/json.md describes it
    #[arg(long, conflicts_with = "device")]
    pub json: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Doctor {
    version: &'static str,
    features: Vec<&'static str>,
    devices: Vec<Checked>,
    missing: Vec<Missing>,
    auto: String,
}

/// A device that is there.
#[derive(Debug, Serialize)]
struct Checked {
    device: String,
    name: String,
    software: bool,
    ready: bool,
    error: Option<String>,
}

/// Why there is no device of a kind.
#[derive(Debug, Serialize)]
struct Missing {
    kind: &'static str,
    problem: String,
    fix: String,
}

impl Doctor {
    fn new(
        features: Vec<&'static str>,
        reports: &[DeviceReport],
        check: impl Fn(Device) -> Result<(), String>,
    ) -> Self {
        let found = reports.iter().flat_map(|report| &report.found);
        let devices = found.map(|found| {
            let error = check(found.device).err();
            Checked {
                device: found.device.to_string(),
                name: found.name.clone(),
                software: found.software,
                ready: error.is_none(),
                error,
            }
        });
        let missing = reports.iter().flat_map(|report| {
            report.problems.iter().map(|problem| Missing {
                kind: report.kind,
                problem: problem.to_string(),
                fix: problem.fix(),
            })
        });
        Self {
            version: env!("CARGO_PKG_VERSION"),
            features,
            devices: devices.collect(),
            missing: missing.collect(),
            auto: Device::best().to_string(),
        }
    }
}

pub(crate) fn doctor(args: &DoctorArgs) -> Result<(), CliError> {
    if let Some(device) = &args.device {
        let device = Device::choose(device)?;
        device.check()?;
        return print(&format!("{device}: ready\n"));
    }
    let features = [
        ("wgpu", cfg!(feature = "wgpu")),
        ("cuda", cfg!(feature = "cuda")),
    ];
    if args.json {
        let features = features.iter().filter(|(_, on)| *on);
        let features = features.map(|(name, _)| *name).collect();
        return print(&json(&Doctor::new(features, &devices(), checked))?);
    }
    let built = features.map(|(name, on)| {
        if on {
            format!("+{name}")
        } else {
            format!("-{name}")
        }
    });
    let mut text = format!(
        "fedround {}, features {}\n\n",
        env!("CARGO_PKG_VERSION"),
        built.join(" ")
    );
    for report in devices() {
        text += &lines(&report, checked);
    }
    text += &format!("\n--device auto is {}\n", Device::best());
    print(&wrapped(&text))
}

/// What is said of one kind of device.
fn lines(report: &DeviceReport, check: impl Fn(Device) -> Result<(), String>) -> String {
    let found = report.found.iter().map(|found| {
        let state = match check(found.device) {
            Ok(()) if found.software => "ready, in software".to_owned(),
            Ok(()) => "ready".to_owned(),
            Err(error) => format!("fails: {error}"),
        };
        let device = found.device.to_string();
        format!("{device:<8}{state}: {}{}\n", found.name, advice(found))
    });
    let missing = report.problems.iter().map(|problem| {
        let (kind, fix) = (report.kind, problem.fix());
        format!("{kind:<8}missing: {problem}\n        fix: {fix}\n")
    });
    found.chain(missing).collect()
}

fn advice(found: &Available) -> &'static str {
    if found.software {
        "\n        `cpu` computes the same, many times faster; for a GPU, install its Vulkan driver"
    } else {
        ""
    }
}

/// Checks a device in another process, which a broken driver may take down.
fn checked(device: Device) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .args(["doctor", "--device", &device.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let why = reason(&said).map_or_else(|| output.status.to_string(), str::to_owned);
    Err(why)
}

/// What a process that failed says of it: its error, before which a driver's libraries may have
/// printed panics, or the first line.
fn reason(said: &str) -> Option<&str> {
    let error = said.lines().find_map(|line| line.strip_prefix("error: "));
    error.or_else(|| said.lines().find(|line| !line.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use fedround_exec::device::Unavailable;

    use super::*;

    fn found(device: Device, software: bool) -> DeviceReport {
        let name = "llvmpipe".to_owned();
        DeviceReport {
            kind: device.kind(),
            found: vec![Available {
                device,
                name,
                software,
            }],
            problems: vec![],
        }
    }

    #[test]
    fn an_error_is_told_from_what_libraries_print() {
        let panicked = "\nthread 'DSD-0-0' panicked at cubecl/server.rs:1:1:\nno compiler\n";
        let both = format!("{panicked}error: `cuda` did not multiply\nhelp: --device cpu\n");
        assert_eq!(reason(&both), Some("`cuda` did not multiply"));
        assert!(reason(panicked).unwrap().starts_with("thread 'DSD-0-0'"));
        assert_eq!(reason("\n"), None);
    }

    #[test]
    fn json_has_what_is_there_and_what_is_missing() {
        let missing = DeviceReport {
            kind: "wgpu",
            found: vec![],
            problems: vec![Unavailable::NotBuilt { feature: "wgpu" }],
        };
        let reports = [found(Device::Cuda(1), false), missing];
        let doctor = Doctor::new(vec!["cuda"], &reports, |_| Err("no memory".to_owned()));
        let device = &doctor.devices[0];
        assert_eq!((device.device.as_str(), device.ready), ("cuda:1", false));
        assert_eq!(device.error.as_deref(), Some("no memory"));
        assert!(
            doctor.missing[0].fix.contains("--features wgpu"),
            "{doctor:?}"
        );
    }

    #[test]
    fn what_works_fails_or_is_missing() {
        let ready = lines(&found(Device::Cuda(1), false), |_| Ok(()));
        assert_eq!(ready, "cuda:1  ready: llvmpipe\n");
        let soft = lines(&found(Device::Wgpu(0), true), |_| Ok(()));
        assert!(
            soft.starts_with("wgpu    ready, in software: llvmpipe\n"),
            "{soft}"
        );
        let broken = lines(&found(Device::Cuda(0), false), |_| {
            Err("no memory".to_owned())
        });
        assert!(broken.contains("fails: no memory"), "{broken}");
        let missing = DeviceReport {
            kind: "cuda",
            found: vec![],
            problems: vec![
                Unavailable::NotBuilt { feature: "cuda" },
                Unavailable::NoDriver,
            ],
        };
        let missing = lines(&missing, |_| Ok(()));
        for part in [
            "`cuda`",
            "fix: build with `--features cuda`",
            "no libcuda.so",
            "--gpus all",
        ] {
            assert!(missing.contains(part), "{missing}");
        }
    }
}
