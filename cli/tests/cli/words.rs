//! Models of captions and questions, on small files of the datasets' own formats and on the real ones
//! where they are.

use std::fs;
use std::path::Path;

use image::{Rgb, RgbImage};
use serde_json::{Value, json};

use crate::support::{Place, real, stderr};

const COLOURS: [(&str, [u8; 3]); 3] = [
    ("red", [200, 30, 30]),
    ("green", [30, 200, 30]),
    ("blue", [30, 30, 200]),
];

fn read_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn picture(path: &Path, i: usize) {
    let image = RgbImage::from_pixel(40, 40, Rgb(COLOURS[i % 3].1));
    image.save(path).unwrap();
}

/// Flickr8k of 24 pictures of one colour, of five captions each.
fn flickr(place: &Place) {
    let folder = place.path("data/flickr8k/Images");
    fs::create_dir_all(&folder).unwrap();
    let mut captions = "image,caption\n".to_owned();
    for i in 0..24 {
        picture(&folder.join(format!("{i}.jpg")), i);
        let colour = COLOURS[i % 3].0;
        for person in 0..5 {
            let what = ["wall", "board"][person % 2];
            captions += &format!("{i}.jpg,A {colour} {what} without anything on it .\n");
        }
    }
    place.write("data/flickr8k/captions.txt", captions.as_bytes());
}

/// easy-VQA of so many pictures for training and 6 for tests.
fn questions(place: &Place, train: usize) {
    for (split, n) in [("train", train), ("test", 6)] {
        let folder = place.path(&format!("data/easy_vqa/{split}/images"));
        fs::create_dir_all(&folder).unwrap();
        let mut asked = vec![];
        for i in 0..n {
            picture(&folder.join(format!("{i}.png")), i);
            asked.push(json!(["what color is it?", COLOURS[i % 3].0, i]));
            let red = if i % 3 == 0 { "yes" } else { "no" };
            asked.push(json!(["is it red?", red, i]));
        }
        let text = Value::from(asked).to_string();
        place.write(
            &format!("data/easy_vqa/{split}/questions.json"),
            text.as_bytes(),
        );
    }
    place.write("data/easy_vqa/answers.txt", b"red\ngreen\nblue\nyes\nno\n");
}

fn numbers(value: &Value) -> Vec<f64> {
    let all = value.as_array().unwrap_or_else(|| panic!("{value}"));
    all.iter().map(|x| x.as_f64().unwrap()).collect()
}

fn rounds(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn captions_are_judged_by_bleu() {
    let place = Place::new();
    flickr(&place);
    let line = "run fedavg --data flickr8k --data-dir data --model captioner-small --clients 2 \
                --partition iid --rounds 2 --eval-every 1 --set fraction=1 --set batch=45 \
                --beam 2 --out captions";
    let text = place.success(line);
    assert!(text.contains("BLEU-1 to 4, %"), "{text}");
    let summary = place.json("captions/summary.json");
    let bleu = numbers(&summary["bleu"]);
    assert_eq!(bleu.len(), 4);
    assert!(
        bleu.windows(2)
            .all(|w| 0.0 <= w[1] && w[1] <= w[0] && w[0] <= 1.0)
    );
    assert!(summary["best_bleu"].as_f64().unwrap() >= bleu[3]);
    let rounds = rounds(&place.text("captions/metrics.jsonl"));
    assert_eq!(numbers(&rounds[1]["test_bleu"]), bleu);
    assert!(rounds[1]["train_loss"].as_f64() < rounds[0]["train_loss"].as_f64());
    assert!(place.text("captions/config.toml").contains("beam = 2"));
    let inputs = place.json("captions/inputs.json");
    let words = inputs["vocabulary"].as_array().unwrap();
    assert_eq!(inputs["words"], words.len());
    assert_eq!(words[1], "<start>");
    // The same file, the same run.
    let again = "run --config captions/config.toml --threads 1 --out again";
    place.success(again);
    assert_eq!(place.json("again/summary.json")["bleu"], summary["bleu"]);
    // The finished model, with the run's beam and with another one.
    let tested = read_json(&place.success("eval captions --json"));
    assert_eq!(tested["server"]["bleu"], summary["bleu"]);
    assert!(tested["server"].get("auc").is_none(), "{tested}");
    let text = place.success("eval captions --beam 1");
    assert!(text.contains("BLEU-1"), "{text}");
    let error = place.failure("eval captions --beam 0", 1);
    assert!(error.contains("beam: expected at least 1"), "{error}");
}

#[test]
fn answers_are_judged_as_in_vqa() {
    let place = Place::new();
    questions(&place, 12);
    let line = "run lg-fedavg --data easy-vqa --data-dir data --model vqa-small --clients 2 \
                --partition iid --rounds 2 --eval-every 2 --ensemble --set fraction=1 --set batch=6 --out vqa";
    let text = place.success(line);
    assert!(text.contains("VQA accuracy"), "{text}");
    let summary = place.json("vqa/summary.json");
    // One person answered each, every answer is a class, and clients answer with what they keep.
    assert_eq!(summary["vqa_accuracy"], summary["ensemble_accuracy"]);
    assert!(summary.get("bleu").is_none());
    let rounds = rounds(&place.text("vqa/metrics.jsonl"));
    assert_eq!(rounds[1]["test_vqa_accuracy"], summary["vqa_accuracy"]);
    let tested = read_json(&place.success("eval vqa --client 0 --json"));
    let answers = tested["client"]["test"]["vqa_accuracy"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&answers), "{tested}");
    // Only the head is sent.
    let head = 128 * 128 + 128 + 256 * 128 + 128 + 128 * 5 + 5 + 5 * 5 + 5;
    assert_eq!(summary["bytes_up"], 2 * 2 * (4 * head + 4));
}

#[test]
fn info_counts_words() {
    let place = Place::new();
    flickr(&place);
    let text = place.success("data info flickr8k");
    // Ten words, and what pads, starts, ends and is unknown.
    assert!(text.contains("Words: 14, most often a, anything"), "{text}");
}

#[test]
fn data_and_models_of_words_go_together() {
    let place = Place::new();
    questions(&place, 12);
    let run = "run fedavg --data-dir data --clients 2 --rounds 1 --out none";
    let text = place.failure(&format!("{run} --data mnist --model vqa-small"), 1);
    assert!(text.contains("`vqa-small` reads words"), "{text}");
    let text = place.failure(&format!("{run} --data easy-vqa --model captioner-small"), 1);
    assert!(text.contains("`easy-vqa` has no captions"), "{text}");
    // A model of images alone is trained on the images alone, which is said.
    let line = "run fedavg --data-dir data --clients 2 --partition iid --rounds 1 --data easy-vqa --out images";
    let said = |model| stderr(&place.output(&format!("{line}-{model} --model {model}")));
    assert!(said("logistic").contains("warning: `logistic` reads no words"));
    assert!(!said("vqa-small").contains("reads no words"));
    assert!(!place.path("none").exists());
}

#[test]
fn tables_of_words_are_made_of_such_runs() {
    let place = Place::new();
    // Two questions each, for twenty clients of five shards.
    questions(&place, 50);
    let line =
        "reproduce lg-fedavg vqa --data-dir data --rounds 1 --seeds 1 --only FedAvg --out out";
    let text = place.success(line);
    assert!(
        text.contains("40.02") && text.contains("13.97e10"),
        "{text}"
    );
    let numbers = place.json("out/table.json")["numbers"].clone();
    let summary = place.json("out/FedAvg-seed1/summary.json");
    let accuracy = 100.0 * summary["vqa_accuracy"].as_f64().unwrap();
    assert_eq!(numbers[0]["ours"]["mean"].as_f64(), Some(accuracy));
    let captions = place.success("reproduce fedaa captions --data-dir data --dry-run");
    assert!(captions.contains("--model captioner-small"), "{captions}");
    assert!(captions.contains("modality=caption"), "{captions}");
}

#[test]
fn real_files_are_trained_on() {
    for (dataset, folder, model, key) in [
        ("flickr8k", "flickr8k", "captioner-small", "bleu"),
        ("daquar", "daquar", "vqa-small", "vqa_accuracy"),
    ] {
        let Some(data) = real(&[folder]) else {
            continue;
        };
        let place = Place::new();
        let line = format!(
            "run fedavg --data {dataset} --data-dir {} --model {model} --clients 50 --partition iid \
             --rounds 1 --set fraction=0.02 --set batch=32 --out run",
            data.display()
        );
        place.success(&line);
        let summary = place.json("run/summary.json");
        assert!(summary["train_loss"].as_f64().unwrap().is_finite());
        assert!(
            summary[key].is_number() || summary[key].is_array(),
            "{summary}"
        );
    }
}

/// Seeds 1 to 4: 0.415, 0.394, 0.411, 0.425. The most frequent answer is right in 0.365 of the tests.
#[test]
fn questions_are_read() {
    let Some(data) = real(&["easy_vqa"]) else {
        return;
    };
    let place = Place::new();
    let line = format!(
        "run fedavg --data easy-vqa --data-dir {} --model vqa-small --clients 20 --partition iid --rounds 3 \
         --eval-every 3 --set batch=20 --set fraction=0.1 --set lr=0.2 --set momentum=0.9 --quiet --out out",
        data.display()
    );
    place.success(&line);
    let found = place.json("out/summary.json")["test_accuracy"].as_f64();
    assert!(found.unwrap() > 0.385, "{found:?}");
}
