//! Weights written as PyTorch names and lays them out.

use std::path::{Path, PathBuf};

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use fedround_models::layers::{BatchNorm, Lstm, LstmState};
use fedround_models::{
    ForwardCx, Function, Model, Network, ResNetConfig, TORCHVISION_RESNET, Task, load_weights,
};
use safetensors::tensor::{Dtype, TensorView, serialize_to_file};

/// One layer of each kind that PyTorch names or lays out in its own way.
#[derive(Module, Debug)]
struct Small {
    lstm: Lstm,
    norm: BatchNorm,
    head: Linear,
}

impl Small {
    fn forward(&self, x: Tensor<3>, cx: &ForwardCx) -> Tensor<2> {
        let start = LstmState::zeros(1, 2, &x.device());
        let (_, last) = self.lstm.forward(x, start);
        self.head.forward(self.norm.forward(last.hidden, cx))
    }
}

impl Network for Small {
    fn functions() -> Vec<Function<Self>> {
        vec![Function::new("forward", Self::forward)]
    }
}

fn small() -> Small {
    let device = Device::default();
    Small {
        lstm: Lstm::new(2, 2, &device),
        norm: BatchNorm::new(2, &device),
        head: burn::nn::LinearConfig::new(2, 3).init(&device),
    }
}

/// A tensor whose `i`-th number is `0.7 cos(k i)`.
struct Entry(&'static str, Vec<usize>, f32);

fn state_dict() -> Vec<Entry> {
    vec![
        Entry("rnn.weight_ih_l0", vec![8, 2], 1.0),
        Entry("rnn.weight_hh_l0", vec![8, 2], 2.0),
        Entry("rnn.bias_ih_l0", vec![8], 3.0),
        Entry("rnn.bias_hh_l0", vec![8], 5.0),
        Entry("bn.weight", vec![2], 0.1),
        Entry("bn.bias", vec![2], 0.5),
        Entry("bn.running_mean", vec![2], 1.1),
        Entry("bn.running_var", vec![2], 0.3),
        Entry("fc.weight", vec![3, 2], 1.3),
        Entry("fc.bias", vec![3], 1.7),
    ]
}

const RENAMES: &[(&str, &str)] = &[
    ("rnn.weight_ih_l0", "lstm.weight_ih"),
    ("rnn.weight_hh_l0", "lstm.weight_hh"),
    ("rnn.bias_ih_l0", "lstm.bias_ih"),
    ("rnn.bias_hh_l0", "lstm.bias_hh"),
    ("^bn", "norm"),
    ("^fc", "head"),
];

/// A file of the test's own; it is overwritten when the test runs again.
fn file(name: &str, entries: &[Entry]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let bytes = |Entry(_, shape, k): &Entry| -> Vec<u8> {
        let n: usize = shape.iter().product();
        let values = (0..n).map(|i| 0.7 * (k * i as f32).cos());
        values.flat_map(f32::to_le_bytes).collect()
    };
    let data: Vec<Vec<u8>> = entries.iter().map(bytes).collect();
    let views = entries
        .iter()
        .zip(&data)
        .map(|(Entry(name, shape, _), data)| {
            let view = TensorView::new(Dtype::F32, shape.clone(), data).unwrap();
            ((*name).to_owned(), view)
        });
    serialize_to_file(views, None, &path).unwrap();
    path
}

/// Values of the same modules in PyTorch 2, in inference.
#[test]
fn a_loaded_model_computes_what_pytorch_computes() {
    computes_what_pytorch_computes(&file("small.safetensors", &state_dict()));
}

fn computes_what_pytorch_computes(path: &Path) {
    let model = load_weights(&small(), "", path, RENAMES).unwrap();
    let x = [[[0.5, -1.0], [1.5, 0.25], [-0.75, 2.0]]];
    let x = Tensor::<3>::from_floats(x, &Device::default());
    let cx = ForwardCx::inference();
    let output = model.call("forward", &[x.into()], &cx).unwrap();
    let logits = Tensor::<2>::from_dispatch(output.value.into_dispatch());
    let found: Vec<f32> = logits.into_data().try_to_vec().unwrap();
    let expected = [0.795_570_2, -0.292_157_3, -0.426_203_9];
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{found}, {expected}");
    }
}

#[test]
fn a_mismatch_names_everything() {
    let mut entries = state_dict();
    entries.retain(|Entry(name, ..)| *name != "bn.running_var");
    entries.push(Entry("extra.weight", vec![1], 1.0));
    entries
        .iter_mut()
        .filter(|e| e.0 == "fc.weight")
        .for_each(|e| e.1 = vec![5, 2]);
    let path = file("mismatch.safetensors", &entries);
    let error = load_weights(&small(), "", &path, RENAMES)
        .err()
        .unwrap()
        .to_string();
    for part in [
        "missing: norm.running_var",
        "unexpected: extra.weight",
        "`head.weight` expected [3, 2], found [5, 2]",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_part_is_loaded_alone_and_tensors_can_be_left_out() {
    let path = file("part.safetensors", &state_dict());
    let renames = [
        ("^rnn", ""),
        ("^bn", ""),
        ("^fc.weight", "weight"),
        ("^fc.bias", "bias"),
    ];
    let before = small();
    let model = load_weights(&before, "head", &path, &renames).unwrap();
    let (before, after) = (before.leaves(), model.leaves());
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        let changed = before.value() != after.value();
        assert_eq!(changed, after.name.starts_with("head."), "{}", after.name);
    }
}

#[test]
fn a_file_that_is_none_says_how_to_write_one() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("none.safetensors");
    std::fs::write(&path, b"PK\x03\x04 a zip file of torch.save").unwrap();
    let error = load_weights(&small(), "", &path, &[])
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("safetensors.torch.save_file"), "{error}");
    let error = load_weights(&small(), "", "absent".as_ref(), &[]);
    assert!(
        error
            .err()
            .unwrap()
            .to_string()
            .contains("cannot read absent")
    );
}

/// What `small.py` wrote.
const OF_TORCH: [&str; 3] = ["small.pt", "small-legacy.pt", "small-checkpoint.pt"];

fn of_torch(name: &str) -> PathBuf {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    data.join(name)
}

#[test]
fn pytorchs_own_files_are_read() {
    for name in OF_TORCH {
        computes_what_pytorch_computes(&of_torch(name));
    }
}

#[test]
fn broken_files_of_pytorch_are_refused() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("broken.pt");
    for name in OF_TORCH {
        let whole = std::fs::read(of_torch(name)).unwrap();
        let (last, step) = (whole.len(), 29);
        let cuts = (2..last).step_by(step).map(|n| whole[..n].to_vec());
        for bytes in cuts {
            std::fs::write(&path, &bytes).unwrap();
            let error = load_weights(&small(), "", &path, RENAMES).err();
            let error = error.map(|e| e.to_string());
            assert!(error.is_some(), "{name}, {} of {last} bytes", bytes.len());
        }
    }
    // A byte that is another one may do no harm, but never stops the process.
    for name in OF_TORCH {
        let whole = std::fs::read(of_torch(name)).unwrap();
        for i in (2..whole.len()).step_by(31) {
            let mut bytes = whole.clone();
            bytes[i] = !bytes[i];
            std::fs::write(&path, &bytes).unwrap();
            let _ = load_weights(&small(), "", &path, RENAMES);
        }
    }
    std::fs::write(&path, b"PK\x03\x04 and then nothing of an archive").unwrap();
    let error = load_weights(&small(), "", &path, &[]).err().unwrap();
    assert!(error.to_string().contains("cut off or damaged"), "{error}");
}

/// Names of `torchvision.models.resnet18().state_dict()` and `resnet50()`, without those of the
/// blocks that repeat.
#[test]
fn torchvision_names_are_ours() {
    let task = Task {
        input: [3, 32, 32],
        classes: 4,
    };
    for config in [ResNetConfig::resnet18(), ResNetConfig::resnet50()] {
        let config = ResNetConfig { width: 2, ..config };
        let model = config.init(task, &Device::default());
        let entries: Vec<(String, Vec<usize>)> = torchvision(&config);
        let leaked = entries.iter().map(|(name, shape)| {
            let name: &'static str = Box::leak(name.clone().into_boxed_str());
            Entry(name, shape.clone(), 1.0)
        });
        let path = file("resnet.safetensors", &leaked.collect::<Vec<_>>());
        let error = load_weights(&model, "", &path, TORCHVISION_RESNET).err();
        assert!(error.is_none(), "{error:?}");
    }
}

/// The state dictionary of a torchvision network with `config.width` channels in place of 64.
fn torchvision(config: &ResNetConfig) -> Vec<(String, Vec<usize>)> {
    let w = config.width;
    let expansion = config.features() / (8 * w);
    let mut entries = vec![("conv1.weight".to_owned(), vec![w, 3, 3, 3])];
    let norm = |entries: &mut Vec<_>, name: String, n: usize| {
        for field in ["weight", "bias", "running_mean", "running_var"] {
            entries.push((format!("{name}.{field}"), vec![n]));
        }
    };
    norm(&mut entries, "bn1".into(), w);
    let mut from = w;
    for (stage, depth) in config.depths.into_iter().enumerate() {
        let inner = w << stage;
        let to = inner * expansion;
        for block in 0..depth {
            let at = format!("layer{}.{block}", stage + 1);
            let convs = match expansion {
                1 => vec![[inner, from, 3], [inner, inner, 3]],
                _ => vec![[inner, from, 1], [inner, inner, 3], [to, inner, 1]],
            };
            for (i, [o, c, k]) in convs.into_iter().enumerate() {
                entries.push((format!("{at}.conv{}.weight", i + 1), vec![o, c, k, k]));
                norm(&mut entries, format!("{at}.bn{}", i + 1), o);
            }
            if block == 0 && (stage > 0 || expansion > 1) {
                entries.push((format!("{at}.downsample.0.weight"), vec![to, from, 1, 1]));
                norm(&mut entries, format!("{at}.downsample.1"), to);
            }
            from = to;
        }
    }
    entries.extend([
        ("fc.weight".to_owned(), vec![4, from]),
        ("fc.bias".to_owned(), vec![4]),
    ]);
    entries
}
