//! `fedround doctor` lists the devices, and says what is missing for the others.

use crate::support::{Place, SMALL, skipped};

#[test]
fn doctor_says_what_can_be_used_and_why_not() {
    let text = Place::new().success("doctor");
    let sign = |on| if on { '+' } else { '-' };
    let wgpu = sign(cfg!(feature = "wgpu"));
    let cuda = sign(cfg!(feature = "cuda"));
    assert!(
        text.contains(&format!("features {wgpu}wgpu {cuda}cuda")),
        "{text}"
    );
    assert!(text.contains("\ncpu     ready: "), "{text}");
    assert!(text.contains("\n--device auto is "), "{text}");
    for kind in ["wgpu", "cuda"] {
        let line = text.lines().find(|line| line.starts_with(kind)).unwrap();
        let known = ["ready: ", "ready, in software: ", "missing: ", "fails: "];
        assert!(known.iter().any(|known| line.contains(known)), "{line}");
    }
    assert_eq!(
        text.matches("missing: ").count(),
        text.matches("fix: ").count()
    );
}

#[cfg(not(feature = "cuda"))]
#[test]
fn a_feature_that_is_off_is_named_with_its_fix() {
    let text = Place::new().success("doctor");
    let line = "cuda    missing: this build lacks the feature `cuda`";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("fix: build with `--features cuda`"), "{text}");
}

/// The linker's cache and folders hold no driver, and there is no `nvidia-smi` in an empty folder.
#[cfg(target_os = "linux")]
#[test]
fn missing_libraries_are_named() {
    let place = Place::new();
    let mut command = place.command("doctor");
    let text = |output: Vec<u8>| String::from_utf8(output).unwrap();
    let without = text(command.env("PATH", "").output().unwrap().stdout);
    if std::path::Path::new("/proc/driver/nvidia").exists() {
        skipped("this machine has NVIDIA's driver, which is not missing");
        return;
    }
    assert!(without.contains("no libcuda.so"), "{without}");
    // A driver's library alone makes no GPU.
    place.write("libcuda.so.1", b"");
    let mut command = place.command("doctor");
    let folder = place.path("");
    let with = command.env("PATH", "").env("LD_LIBRARY_PATH", folder);
    let with = text(with.output().unwrap().stdout);
    assert!(
        with.contains("there is no NVIDIA GPU: `nvidia-smi` does not run"),
        "{with}"
    );
    assert!(!with.contains("no libcuda.so"), "{with}");
}

#[test]
fn one_device_is_checked_alone() {
    let place = Place::new();
    assert_eq!(place.success("doctor --device cpu"), "cpu: ready\n");
    assert_eq!(place.success("doctor --device flex"), "cpu: ready\n");
    assert!(place.success("doctor --device auto").ends_with(": ready\n"));
    let error = place.failure("doctor --device tpu", 1);
    assert!(error.contains("expected `auto`, `cpu`"), "{error}");
}

#[test]
fn a_run_names_what_keeps_its_device_away() {
    let place = Place::new();
    for (list, device) in [
        ("wgpu:7", "wgpu:7"),
        ("cuda:7", "cuda:7"),
        ("cpu,wgpu:7", "wgpu:7"),
    ] {
        let error = place.failure(&format!("run fedavg {SMALL} --device {list}"), 1);
        assert!(error.contains(&format!("`{device}`")), "{error}");
        assert!(error.contains("fedround doctor"), "{error}");
    }
    assert!(place.files("runs").is_empty());
}

/// What `auto` chose is in the run's file, so that the run can be repeated.
#[test]
fn auto_is_written_down_as_what_it_chose() {
    let place = Place::new();
    let line = format!("run fedavg {SMALL} --device auto --quiet --out auto");
    place.success(&line);
    let config = place.text("auto/config.toml");
    assert!(
        config.contains("device = ") && !config.contains("\"auto\"\nthreads"),
        "{config}"
    );
    let chosen = place.success("doctor --device auto");
    let chosen = chosen.split(": ready").next().unwrap();
    assert!(
        config.contains(&format!("device = \"{chosen}\"")),
        "{config}"
    );
}
