//! 16-bit products on GPUs: near those that the CPU rounds, or an error before anything runs.

use burn_backend::Backend;
use burn_dispatch::Dispatch;
use fedround_algorithms::FedAvg;
use fedround_exec::{CompileError, Device, DeviceError, Precision, Target};
use fedround_simulation::CohortBatch;

use crate::{devices, fed_avg, run};

pub fn has(device: Device, precision: Precision) -> bool {
    let dtype = match precision {
        Precision::F32 => burn::tensor::DType::F32,
        Precision::BF16 => burn::tensor::DType::BF16,
        Precision::F16 => burn::tensor::DType::F16,
    };
    device == Device::Cpu || Dispatch::supports_dtype(&device.open().unwrap(), dtype)
}

/// Parameters within 2e-3 of a size of 0.1, losses within 1 %. GPUs round products once more.
#[test]
fn devices_round_as_the_cpu_does() {
    for precision in [Precision::BF16, Precision::F16] {
        for model in ["2nn", "lenet5"] {
            let cpu = Device::Cpu.with_precision(precision);
            let (expected, loss) = run(&fed_avg(), model, cpu, CohortBatch::Off);
            for device in devices().into_iter().filter(|d| has(*d, precision)) {
                let (full, _) = run(&fed_avg(), model, device, CohortBatch::Off);
                for batch in [CohortBatch::Off, CohortBatch::Clients(3)] {
                    let target = device.with_precision(precision);
                    let (found, other) = run(&fed_avg(), model, target, batch);
                    let name = format!("{model} in {precision} on {device}, {batch}");
                    assert!(
                        (loss - other).abs() < 0.01 * loss,
                        "{name}: {other}, not {loss}"
                    );
                    assert_ne!(found, full, "{name} does not round");
                    for (x, y) in found.iter().zip(&expected) {
                        assert!((x - y).abs() < 2e-3, "{name}: {x}, not {y}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_device_says_which_precision_it_lacks() {
    for device in devices() {
        for precision in Precision::ALL {
            let target: Target = device.with_precision(precision);
            let opened = target.open();
            if has(device, precision) {
                opened.unwrap();
                continue;
            }
            let error = opened.unwrap_err();
            assert!(matches!(error, DeviceError::Precision { .. }), "{error}");
            let text = error.to_string();
            let expected = format!("`{device}` cannot compute in {precision}: ");
            assert!(text.starts_with(&expected), "{text}");
            assert!(text.contains("storage"), "{text}");
            // Before anything is compiled.
            let tracer = crate::tracer("logistic");
            let program =
                fedround_exec::Program::compile_for(&FedAvg::default(), tracer, target.clone());
            assert!(matches!(program, Err(CompileError::Device(_))));
        }
    }
}
