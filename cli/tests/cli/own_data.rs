//! Data of a user's own, from file to trained model.

use std::io::Cursor;

use image::{GrayImage, ImageFormat, Luma};
use serde_json::Value;

use crate::support::{Place, stderr};

/// A grey image whose upper or lower half is bright.
fn png(bright: u32, level: u8) -> Vec<u8> {
    let image = GrayImage::from_fn(8, 8, |_, y| match y / 4 == bright {
        true => Luma([level]),
        false => Luma([10]),
    });
    let mut bytes = Cursor::new(vec![]);
    image.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// Photos of two classes, which two people took.
fn photos(place: &Place) {
    for client in ["ann", "bob"] {
        for (half, class) in [(0, "down"), (1, "up")] {
            for i in 0..10 {
                let name = format!("photos/{client}/{class}/{i}.png");
                place.write(&name, &png(half, 100 + 10 * i));
            }
        }
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn photos_are_trained_on_evaluated_and_predicted() {
    let place = Place::new();
    photos(&place);
    let line = "run fedavg --data images:photos --partition natural --rounds 3 --set lr=0.1 \
                --set fraction=1 --set batch=4 --out run --json";
    let summary = json(&place.success(line));
    assert_eq!(summary["clients"], 2);
    assert_eq!(summary["client_names"], serde_json::json!(["ann", "bob"]));
    assert_eq!(summary["data"], "photos");
    assert_eq!(summary["test_accuracy"], 1.0);
    // The run's own settings are whole: it is the same again, from another folder.
    let config = place.text("run/config.toml");
    assert!(
        config.contains("partition = \"natural\"") && config.contains("clients = 2"),
        "{config}"
    );
    let again = json(&place.success("run --config run/config.toml --out again --json"));
    assert_eq!(again["test_loss"], summary["test_loss"]);
    let resumed = json(&place.success("resume run --rounds 4 --json"));
    assert_eq!(resumed["rounds"], 4);
    let report = json(&place.success("eval run --json"));
    assert_eq!(report["server"]["accuracy"], 1.0);
    // All pictures of a folder without a test part are tests.
    let report = json(&place.success("eval run --data images:photos/ann --json"));
    assert_eq!(
        (&report["data"], &report["examples"]),
        (&"ann".into(), &20.into())
    );
    assert_eq!(report["server"]["accuracy"], 1.0);
    let report = json(&place.success("eval run --data images:photos/ann --test-share 0.5 --json"));
    assert_eq!(report["examples"], 10);
    place.write("new.png", &png(1, 180));
    let predicted = json(&place.success("predict run new.png"));
    assert_eq!(predicted[0]["class"], "up");
}

#[test]
fn photos_are_described_drawn_and_compared() {
    let place = Place::new();
    photos(&place);
    let text = place.success("data info images:photos");
    for part in [
        "training  32",
        "test      8",
        "x [1x8x8] numbers",
        "Groups: 2, such as ann, bob; --partition natural makes a client of each",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = place.success("data preview images:photos --columns 2 --out sheet.png");
    assert!(text.contains("row 2  up"), "{text}");
    let text = place.success("data partition images:photos --partition natural");
    assert!(
        text.contains("32 of 32 training examples held by 2 clients, 16 to 16 each"),
        "{text}"
    );
    // Clients are in the order of their names, and have them where each is one.
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let begins = |line: usize, start: &str| lines[line].starts_with(start);
    assert!(
        begins(0, "client  name") && begins(1, "0   ann") && begins(2, "1   bob"),
        "{text}"
    );
    let line = "data partition images:photos --partition natural --clients 1 --json";
    let one = json(&place.success(line));
    assert!(["ann", "bob"].contains(&one["clients"][0]["name"].as_str().unwrap()));
    let all = json(&place.success(&line.replace("natural --clients 1", "iid --clients 2")));
    assert!(all["clients"][0]["name"].is_null(), "{all}");
    let line = "compare fedavg fedprox --data images:photos --resize 4 --clients 2 --partition iid \
                --rounds 1 --seeds 1 --out grid --quiet";
    place.success(line);
    let config = place.text("grid/fedavg-seed1/config.toml");
    assert!(config.contains("[reading]\nresize = 4"), "{config}");
    // LeNet-5 has more parameters on larger images.
    for (side, parameters) in [(16, "14,946"), (32, "61,026")] {
        let line = "explain fedavg --data images:photos --model lenet5";
        let text = place.success(&format!("{line} --resize {side}"));
        let expected = format!("P = {parameters} parameters of lenet5 on images:photos");
        assert!(text.contains(&expected), "{text}");
    }
}

#[test]
fn tables_are_trained_on_and_rows_predicted() {
    let place = Place::new();
    let mut text = "shop,amount,kind,fraud\n".to_owned();
    for i in 0..80 {
        let kind = if i % 2 == 0 { "card" } else { "cash" };
        text += &format!(
            "s{},{},{kind},{}\n",
            i % 4,
            i * 7 % 50,
            if i % 2 == 0 { "yes" } else { "no" }
        );
    }
    place.write("sales.csv", text.as_bytes());
    let line = "run fedavg --data csv:sales.csv --target-column fraud --client-column shop \
                --partition natural --model logistic --rounds 3 --set lr=0.5 --set fraction=1 \
                --out run --json";
    let summary = json(&place.success(line));
    assert_eq!(
        (&summary["clients"], &summary["test_accuracy"]),
        (&4.into(), &1.0.into())
    );
    assert_eq!(summary["auc"], 1.0);
    assert!(summary["local_auc"].is_null(), "each shop has one class");
    let rounds = place.text("run/metrics.jsonl");
    assert_eq!(json(rounds.lines().last().unwrap())["test_auc"], 1.0);
    let tested = json(&place.success("eval run --json"));
    assert_eq!(tested["server"]["auc"], 1.0, "{tested}");
    // A column that names clients says so where it is not asked for them.
    let dealt = line.replace("--partition natural", "--clients 4");
    let output = place.output(&dealt.replace("--out run", "--out dealt"));
    let note = "note: `shop` names 4 clients, but shards:2 deals the rows to others; \
                --partition natural makes a client of each";
    assert!(stderr(&output).contains(note), "{}", stderr(&output));
    assert!(place.json("dealt/summary.json")["client_names"].is_null());
    let output = place.output(&line.replace("--out run", "--out natural"));
    assert!(
        !stderr(&output).contains("names 4 clients"),
        "{}",
        stderr(&output)
    );
    place.write("new.csv", b"kind,amount\ncash,3\ncard,40\n");
    let predicted = json(&place.success("predict run new.csv"));
    assert_eq!(
        (&predicted[0]["class"], &predicted[1]["class"]),
        (&"no".into(), &"yes".into())
    );
    let text = place.success("data preview csv:sales.csv --target-column fraud --columns 1");
    assert!(
        text.starts_with("shop=s0, shop=s1, shop=s2, shop=s3, amount, kind=card, kind=cash\n"),
        "{text}"
    );

    let text = place.failure("run fedavg --data csv:sales.csv --target-column frau", 1);
    assert!(
        text.contains("no column is called `frau` (did you mean `fraud`?)"),
        "{text}"
    );
    let text = place.failure("run fedavg --data csv:sales.csv --target fraud", 2);
    assert!(
        text.contains("the column of a table is --target-column"),
        "{text}"
    );
    // The library speaks of its options, and the command of its switches.
    let helps = [
        ("mnist --resize 8", "help: --augment resize:N"),
        ("csv:sales.csv", "help: --target-column COLUMN"),
        ("csv:none.csv --target-column fraud", "help: check the path"),
        ("mnist --broken skip", "help: leave --broken out"),
    ];
    for (data, expected) in helps {
        let text = place.failure(&format!("run fedavg --data {data}"), 1);
        assert!(text.contains(expected), "{data}: {text}");
    }
    for line in ["run fedavg --data", "data partition"] {
        let line =
            format!("{line} csv:sales.csv --target-column fraud --partition natural --clients 2");
        let text = place.failure(&line, 1);
        assert!(
            text.contains("a table names them with --client-column COLUMN"),
            "{text}"
        );
    }
    place.write("wrong.csv", b"shop,fraud\ns1,yes\ns2\n");
    for line in ["run fedavg --data", "data info"] {
        let text = place.failure(&format!("{line} csv:wrong.csv --target-column fraud"), 1);
        assert!(
            text.contains("wrong.csv:3: expected 2 fields, as in the first line, found 1"),
            "{text}"
        );
        assert!(
            !text.contains("get the file") && !text.contains("help:"),
            "{text}"
        );
        let text = place.failure(&format!("{line} sales.csv"), 1);
        assert!(
            text.contains("of a file here; write `csv:sales.csv`"),
            "{text}"
        );
    }
}

#[test]
fn next_characters_are_learned() {
    let place = Place::new();
    place.write_play("plays", ["abcd", "cdab"]);
    let text = place.success("data info leaf:plays");
    assert!(
        text.contains("tokens [4] ids") && text.contains("Groups: 2"),
        "{text}"
    );
    let line = "run fedavg --data leaf:plays --partition natural --model char-lstm --rounds 2 \
                --set lr=1 --set fraction=1 --out run --json --eval-every 1";
    let summary = json(&place.success(line));
    let perplexity = summary["perplexity"].as_f64().unwrap();
    let loss = summary["test_loss"].as_f64().unwrap();
    assert!((perplexity - loss.exp()).abs() < 1e-9);
    let tested = json(&place.success("eval run --json"));
    assert_eq!(tested["server"]["perplexity"], perplexity, "{tested}");
    // 81 characters are equally likely before training.
    assert!(perplexity < 60.0, "{perplexity}");
    let gpt = line
        .replace("char-lstm", "gpt:1x16")
        .replace("--out run", "--out gpt");
    let perplexity = json(&place.success(&gpt))["perplexity"].as_f64().unwrap();
    assert!(perplexity < 60.0, "{perplexity}");
    let text = place.failure("run fedavg --model gpt:x", 1);
    assert!(text.contains("expected LAYERSxWIDTH"), "{text}");
    let text = place.failure("run fedavg --model char-lstm", 1);
    assert!(
        text.contains("`char-lstm` reads the characters of texts"),
        "{text}"
    );
}

/// A base is trained on all that is said; its adapters learn what two other characters say, and nothing but
/// the adapters is sent.
#[test]
fn adapters_are_fine_tuned() {
    let place = Place::new();
    place.write_play("first", ["abcd", "cdab"]);
    place.write_play("second", ["acbd", "bdac"]);
    let common =
        "--partition natural --model gpt:1x16 --set lr=0.2 --set fraction=1 --json --eval-every 1";
    place.success(&format!(
        "run fedavg --data leaf:first --rounds 3 {common} --out base"
    ));
    let line = format!("run fedavg --data leaf:second --weights base --train lora:4 {common}");
    let tuned = json(&place.success(&format!("{line} --rounds 4 --out tuned")));
    // Four square layers, two of four times the width, and the head.
    let adapters = 4 * (4 * 32 + 2 * 80 + 16 + 81);
    assert_eq!(tuned["parameters"], adapters);
    assert_eq!(tuned["bytes_down"], 4 * 2 * 4 * adapters);
    assert_eq!(tuned["train"], "lora:4");
    assert_eq!(tuned["weights"]["drawn"].as_array().unwrap().len(), 0);
    let metrics = place.text("tuned/metrics.jsonl");
    let perplexity = metrics
        .lines()
        .map(|l| json(l)["test_perplexity"].as_f64().unwrap());
    let perplexity: Vec<f64> = perplexity.collect();
    assert!(perplexity[3] < 0.2 * perplexity[0], "{perplexity:?}");

    // The saved model is whole.
    let report = json(&place.success("eval tuned --json"));
    let found = report["server"]["loss"].as_f64().unwrap();
    assert!((found - tuned["test_loss"].as_f64().unwrap()).abs() < 1e-5);
    place.success("export tuned --to whole.pt");
    assert!(place.path("tuned/adapters.safetensors").exists());

    // A run that goes on ends with the same bits, also after its base has changed: the checkpoint has the base.
    place.success(&format!("{line} --rounds 2 --out stopped"));
    let resumed = json(&place.success("resume stopped --rounds 4 --json"));
    assert_eq!(resumed["test_loss"], tuned["test_loss"]);
    place.success(&format!("{line} --rounds 2 --out other"));
    std::fs::rename(place.path("base"), place.path("first-base")).unwrap();
    place.success(&format!(
        "run fedavg --data leaf:first --rounds 1 {common} --out base"
    ));
    place.success("resume other --rounds 4");
    let model = |run: &str| std::fs::read(place.path(&format!("{run}/model.safetensors"))).unwrap();
    for run in ["stopped", "other"] {
        assert_eq!(model(run), model("tuned"), "{run}");
    }

    let text = place.success("explain fedavg --data leaf:second --model gpt:1x16 --train lora:4");
    assert!(text.contains("P = 1,540 parameters"), "{text}");
    let text = place.failure("run fedavg --train lora:0", 1);
    assert!(text.contains("lora:RANK"), "{text}");
}
