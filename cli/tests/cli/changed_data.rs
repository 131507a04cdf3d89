//! Data that has changed since a run, in its training examples or only in its tests.

use std::fs;

use serde_json::Value;

use crate::support::Place;

const TABLES: &str = "run fedavg --data csv:tr.csv,te.csv --target-column label --clients 2 --partition iid \
                      --model logistic --rounds 2 --set fraction=1 --set lr=0.5 --quiet --out out";
/// With a scale of their own, images of other pixels do not differ by their scale.
const PHOTOS: &str = "run fedavg --data images:photos --normalize 0.5,0.25 --partition natural --model logistic \
                      --rounds 2 --set fraction=1 --set batch=4 --quiet --out out";

/// A table of two classes around 170 and 180.
fn table(names: [&str; 2], rows: usize) -> String {
    let row = |i: usize| {
        let class = i % 2;
        format!("{},{}\n", 170 + 10 * class + i % 5, names[class])
    };
    "height,label\n".to_owned() + &(0..rows).map(row).collect::<String>()
}

/// Leaves what a run has that was killed after its last checkpoint.
fn kill(place: &Place) {
    for file in ["inputs.json", "manifest.json", "summary.json"] {
        fs::remove_file(place.path(&format!("out/{file}"))).unwrap();
    }
}

fn examples(place: &Place, line: &str) -> Value {
    let found: Value = serde_json::from_str(&place.success(line)).unwrap();
    found["examples"].clone()
}

#[test]
fn a_changed_test_table_is_noticed() {
    let place = Place::new();
    let tests = |names| place.write("te.csv", table(names, 40).as_bytes());
    place.write("tr.csv", table(["cat", "dog"], 80).as_bytes());
    tests(["cat", "dog"]);
    place.success(TABLES);
    let inputs = place.text("out/inputs.json");

    let expected = "is no longer what out was trained on: it has other test examples; restore";
    let own = "eval out --data csv:tr.csv,te.csv";
    tests(["dog", "cat"]);
    for line in ["eval out", own, "resume out", "resume out --rounds 3"] {
        let text = place.failure(line, 1);
        assert!(text.contains(expected), "{line}: {text}");
    }
    assert_eq!(place.text("out/inputs.json"), inputs);
    // As other data, it may be what it is.
    assert_eq!(examples(&place, "eval out --data csv:te.csv --json"), 40);

    tests(["cat", "dog"]);
    for line in ["eval out", own, "resume out --rounds 3 --quiet"] {
        place.success(line);
    }
    assert_eq!(place.text("out/inputs.json"), inputs);

    // The checkpoint alone knows the tests, too.
    kill(&place);
    tests(["dog", "cat"]);
    let text = place.failure("resume out", 1);
    assert!(text.contains(expected), "{text}");
    tests(["cat", "dog"]);
    place.success("resume out --quiet");
    assert_eq!(place.text("out/inputs.json"), inputs);
}

/// Folders of earlier versions do not say which examples they had.
#[test]
fn the_folder_of_an_earlier_version_is_evaluated() {
    let place = Place::new();
    place.write("tr.csv", table(["cat", "dog"], 80).as_bytes());
    place.write("te.csv", table(["cat", "dog"], 40).as_bytes());
    place.success(TABLES);
    let mut inputs = place.json("out/inputs.json");
    let digests = inputs.as_object_mut().unwrap().remove("data");
    assert!(digests.unwrap()["test"].is_string());
    place.write("out/inputs.json", inputs.to_string().as_bytes());
    fs::remove_file(place.path("out/manifest.json")).unwrap();
    place.write("te.csv", table(["dog", "cat"], 40).as_bytes());
    place.success("eval out");
}

#[test]
fn changed_images_are_noticed() {
    let place = Place::new();
    place.write_photos();
    place.success(PHOTOS);
    let photo = |n: usize| format!("photos/ink/b/{n}.png");
    let before: Vec<Vec<u8>> = (0..10).map(|n| place.read(&photo(n))).collect();
    let write = |order: &dyn Fn(usize) -> usize| {
        (0..10).for_each(|n| place.write(&photo(n), &before[order(n)]));
    };

    let expected = "`photos` is no longer what out was trained on: it has other examples; restore";
    write(&|n| 9 - n);
    for line in ["eval out", "resume out", "resume out --rounds 3"] {
        let text = place.failure(line, 1);
        assert!(text.contains(expected), "{line}: {text}");
    }
    // Files that are written again are the same, although they are later.
    write(&|n| n);
    place.success("eval out");
    place.success("resume out --rounds 3 --quiet");

    kill(&place);
    write(&|n| 9 - n);
    let text = place.failure("resume out", 1);
    assert!(text.contains(expected), "{text}");
    write(&|n| n);
    place.success("resume out --quiet");
}

/// A page about a run does not show how other examples would be dealt.
#[test]
fn a_page_about_changed_data_shows_no_partition() {
    let place = Place::new();
    let write = |rows| place.write("tr.csv", table(["cat", "dog"], rows).as_bytes());
    let page = |dir: &str| {
        place.success(&format!("report {dir}"));
        place.text(&format!("{dir}/report.html"))
    };
    let dealt = "training examples of tr.csv, dealt to 2 clients";
    write(80);
    let run = TABLES.replace("csv:tr.csv,te.csv", "csv:tr.csv");
    place.success(&run);
    let both = run.replace("run fedavg", "compare fedavg fedprox");
    place.success(&both.replace("--out out", "--seeds 1 --out both"));
    let all = [("out", "out"), ("both", "both/fedavg-seed1")];
    all.iter()
        .for_each(|(dir, _)| assert!(page(dir).contains(dealt), "{dir}"));

    write(60);
    for (dir, run) in all {
        let page = page(dir);
        let why = format!(
            "The data has changed since, so that this is not known: `tr.csv` is no longer what {run} was trained on"
        );
        assert_eq!(page.matches(&why).count(), 2, "{dir}");
        assert!(!page.contains(dealt), "{dir}");
        assert!(page.contains("Curves"), "{dir}");
    }
    write(80);
    all.iter()
        .for_each(|(dir, _)| assert!(page(dir).contains(dealt), "{dir}"));
}

/// In another division, examples that the model was trained on would be tests.
#[test]
fn data_that_has_moved_is_still_the_runs_own() {
    let place = Place::new();
    place.write("tr.csv", table(["cat", "dog"], 80).as_bytes());
    place.success(&TABLES.replace("csv:tr.csv,te.csv", "csv:tr.csv"));
    place.write_photos();
    place.success(&PHOTOS.replace("--out out", "--out seen"));
    fs::create_dir(place.path("new")).unwrap();
    for name in ["tr.csv", "photos"] {
        fs::rename(place.path(name), place.path(&format!("new/{name}"))).unwrap();
    }
    for line in ["eval out", "resume out"] {
        let text = place.failure(line, 1);
        assert!(text.contains("tr.csv does not exist"), "{line}: {text}");
        assert!(text.contains("`fedround eval RUN --data` names"), "{text}");
        assert!(text.contains("`data` in the run's config.toml"), "{text}");
    }
    let moved = "eval out --data csv:new/tr.csv --json";
    assert_eq!(examples(&place, moved), 16);
    let photos = examples(&place, "eval seen --data images:new/photos --json");
    assert!(photos.as_u64().unwrap() < 24, "{photos}");
    let text = place.failure("eval out --data csv:new/tr.csv --test-share 0.5", 1);
    let expected = "--test-share applies only to other data (--data)";
    assert!(text.contains(expected), "{text}");
    // With a row more it is other data, all of which are tests.
    place.write("new/more.csv", table(["cat", "dog"], 81).as_bytes());
    let more = "eval out --data csv:new/more.csv --json";
    assert_eq!(examples(&place, more), 81);
    // The run goes on where its file says.
    let config = place.text("out/config.toml");
    let line = config
        .lines()
        .find(|line| line.starts_with("data = "))
        .unwrap();
    let at = place.path("new/tr.csv");
    let at = format!("data = \"csv:{}\"", at.display());
    place.write("out/config.toml", config.replace(line, &at).as_bytes());
    place.success("resume out --rounds 3 --quiet");
    assert!(place.text("out/config.toml").contains(&at));
    fs::rename(place.path("new/more.csv"), place.path("new/tr.csv")).unwrap();
    let text = place.failure("resume out --rounds 4", 1);
    assert!(
        text.contains("is no longer what out was trained on"),
        "{text}"
    );
}
