//! Files as other people's scripts write them: names with prefixes, tensors beside the model's,
//! checkpoints.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use fedround_models::{
    Fitted, Layout, Leaf, NamedValues, Renames, Task, Weights, WeightsError, find, to_safetensors,
    to_torch_file,
};
use safetensors::tensor::{Dtype, TensorView, serialize};

/// A linear layer: `head.weight` and `head.bias`.
fn leaves() -> Vec<Leaf> {
    let task = Task {
        input: [1, 2, 2],
        classes: 3,
    };
    let model = find("logistic").unwrap().build(task, &Device::default());
    model.unwrap().leaves()
}

fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Tensors of the layer's shapes in PyTorch: a weight by each name of one, a bias by all other names.
fn tensors<'a>(names: &[&'a str]) -> Vec<NamedValues<'a>> {
    let one = |name: &&'a str| {
        let (shape, values): (&[usize], &[f32]) = match name.ends_with("weight") {
            true => (&[3, 4], &[0.5; 12]),
            false => (&[3], &[0.25; 3]),
        };
        NamedValues {
            name,
            shape,
            values,
        }
    };
    names.iter().map(one).collect()
}

fn file(name: &str, names: &[&str]) -> PathBuf {
    let bytes = to_safetensors(&tensors(names), Layout::PyTorch);
    write(name, &bytes.unwrap())
}

fn fit(path: &Path, renames: Renames<'_>) -> Result<Fitted, WeightsError> {
    Weights::read(path, renames)?.fit(&leaves())
}

#[test]
fn two_tensors_with_one_name_are_refused() {
    let path = file(
        "twice.safetensors",
        &["fc.weight", "head.weight", "fc.bias"],
    );
    let error = fit(&path, &[("^fc", "head")]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`fc.weight` and `head.weight` are both called `head.weight`"),
        "{error}"
    );
    // By the rule that the error says.
    let fitted = fit(&path, &[("^head.weight", ""), ("^fc", "head")]).unwrap();
    assert_eq!(fitted.report.loaded, ["head.weight", "head.bias"]);
    // Of names that the model lacks there may be two.
    let path = file("others.safetensors", &["head.bias", "a.x", "b.x"]);
    let fitted = fit(&path, &[("^a", "b")]).unwrap();
    assert_eq!(fitted.report.left_over, ["a.x (b.x)", "b.x"]);
}

/// A file of `head.bias` and `other`, with these bytes of four or eight to an element.
fn of_bytes(name: &str, tensors: [(Dtype, &[u8]); 2]) -> PathBuf {
    let views = ["head.bias", "other"].into_iter().zip(tensors);
    let views = views.map(|(name, (dtype, bytes))| {
        let size = if dtype == Dtype::I64 { 8 } else { 4 };
        let view = TensorView::new(dtype, vec![bytes.len() / size], bytes).unwrap();
        (name, view)
    });
    write(name, &serialize(views, None).unwrap())
}

#[test]
fn tensors_that_the_model_lacks_may_be_anything() {
    let finite = [0.5_f32; 3].map(f32::to_le_bytes).concat();
    let broken = [0.5, f32::NAN, f32::INFINITY]
        .map(f32::to_le_bytes)
        .concat();
    let (finite, broken) = ((Dtype::F32, &finite[..]), (Dtype::F32, &broken[..]));
    let counts = (Dtype::I64, &[0; 24][..]);
    for other in [broken, counts] {
        let path = of_bytes("beside.safetensors", [finite, other]);
        let fitted = fit(&path, &[]).unwrap();
        assert_eq!(fitted.report.loaded, ["head.bias"]);
        assert_eq!(fitted.report.left_over, ["other"]);
    }
    let path = of_bytes("counts.safetensors", [counts, finite]);
    let error = fit(&path, &[]).unwrap_err().to_string();
    assert!(
        error.contains("`head.bias` is of I64, expected floats"),
        "{error}"
    );
    let path = of_bytes("not-finite.safetensors", [broken, finite]);
    let error = fit(&path, &[]).unwrap_err();
    assert!(
        matches!(&error, WeightsError::NotFinite { name, .. } if name == "head.bias"),
        "{error}"
    );
}

#[test]
fn an_error_says_which_rule_removes_a_prefix() {
    let names = ["module.net.head.weight", "module.net.head.bias"];
    let path = file("prefix.safetensors", &names);
    let error = fit(&path, &[]).unwrap_err().to_string();
    assert!(
        error.contains("the rule `^module.net.=`, after all others, removes it"),
        "{error}"
    );
    let none = |path: &Path| {
        let error = fit(path, &[]).unwrap_err();
        assert!(
            matches!(&error, WeightsError::Nothing { prefix: None, .. }),
            "{error}"
        );
    };
    none(&file(
        "mixed.safetensors",
        &["a.head.weight", "b.head.bias"],
    ));
    none(&file("foreign.safetensors", &["a.fc.weight", "a.fc.bias"]));
    let both = |rules: Renames<'_>| {
        let fitted = fit(&path, rules).unwrap();
        assert_eq!(fitted.report.loaded.len(), 2, "{rules:?}");
    };
    both(&[("^module.net.", "")]);
    both(&[("^module.", ""), ("net.", "")]);
    both(&[("net.", ""), ("^module.", "")]);
    // Segments that others do not follow, or that are elsewhere, are no prefix.
    let path = file("kept.safetensors", &["head.weight", "head.bias"]);
    let fitted = fit(&path, &[("weight.", ""), ("^bias.", ""), ("^hea.", "")]).unwrap();
    assert_eq!(fitted.report.loaded, ["head.weight", "head.bias"]);
}

/// `small-checkpoint.pt` with another name for its entry `state_dict`.
fn checkpoint(entry: &str) -> PathBuf {
    let text = |text: &str| {
        let length = u32::try_from(text.len()).unwrap().to_le_bytes();
        [b"X", &length[..], text.as_bytes()].concat()
    };
    let (from, to) = (text("state_dict"), text(entry));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small-checkpoint.pt");
    let mut whole = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for i in 0..whole.len() {
        let mut part = whole.by_index(i).unwrap();
        let mut bytes = vec![];
        part.read_to_end(&mut bytes).unwrap();
        let name = part.name().unwrap().into_owned();
        if name.ends_with("data.pkl") {
            let at = bytes.windows(from.len()).position(|w| w == from).unwrap();
            bytes.splice(at..at + from.len(), to.clone());
        }
        out.start_file(name, options).unwrap();
        out.write_all(&bytes).unwrap();
    }
    write(&format!("{entry}.pt"), out.finish().unwrap().get_ref())
}

#[test]
fn the_models_entry_of_a_checkpoint_is_read() {
    for entry in ["model_state_dict", "model"] {
        let fitted = fit(&checkpoint(entry), &[("^fc.bias", "head.bias")]).unwrap();
        assert_eq!(fitted.report.loaded, ["head.bias"], "{entry}");
        let others = fitted.report.left_over;
        assert!(others.contains(&"bn.weight".to_owned()), "{others:?}");
    }
    // An entry that is none of the model's keeps its name.
    let error = fit(&checkpoint("optimizer"), &[]).unwrap_err().to_string();
    assert!(error.contains("`optimizer."), "{error}");
}

/// Its other tensors are not left out.
#[test]
fn a_module_called_model_is_no_entry() {
    let names = ["model.head.weight", "head.weight", "head.bias"];
    let path = write("module.pt", &to_torch_file(&tensors(&names)).unwrap());
    let fitted = fit(&path, &[]).unwrap();
    assert_eq!(fitted.report.loaded, ["head.weight", "head.bias"]);
    assert_eq!(fitted.report.left_over, ["model.head.weight"]);
}

/// With the length of its header, a file begins as a pickle does.
#[test]
fn a_header_of_any_length_is_read() {
    for (length, begins) in [(640, 2), (896, 3), (1152, 4), (1408, 5)] {
        let named = |pad: usize| format!("{}.bias", "x".repeat(pad));
        let bytes_of = |pad: usize| {
            let name = named(pad);
            let names = ["head.weight", "head.bias", name.as_str()];
            to_safetensors(&tensors(&names), Layout::PyTorch).unwrap()
        };
        let is_of_length = |bytes: &Vec<u8>| bytes[..8] == u64::to_le_bytes(length);
        let bytes = (0..1500).map(bytes_of).find(is_of_length).unwrap();
        assert_eq!(bytes[..2], [0x80, begins]);
        let fitted = fit(&write("header.safetensors", &bytes), &[]).unwrap();
        assert_eq!(fitted.report.loaded, ["head.weight", "head.bias"]);
    }
}

#[test]
fn an_empty_file_is_called_so() {
    let error = fit(&write("empty.pt", b""), &[]).unwrap_err().to_string();
    assert!(error.contains("empty.pt is empty"), "{error}");
}

#[test]
fn archives_that_are_cut_off_or_numpys_are_told_apart() {
    let whole = to_torch_file(&tensors(&["head.weight"])).unwrap();
    let message = |name: &str, bytes: &[u8]| {
        Weights::read(&write(name, bytes), &[])
            .err()
            .unwrap()
            .to_string()
    };
    let text = message("short.pt", &whole[..whole.len() / 2]);
    assert!(text.contains("cut off or damaged"), "{text}");
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    let options = zip::write::SimpleFileOptions::default();
    archive.start_file("weight.npy", options).unwrap();
    archive.write_all(b"\x93NUMPY").unwrap();
    let bytes = archive.finish().unwrap().into_inner();
    let text = message("arrays.npz", &bytes);
    assert!(text.contains("NumPy's arrays"), "{text}");
}
