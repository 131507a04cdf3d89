//! Tests of the subcommand `fedround data`.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread;

use assert_cmd::Command;

use crate::support::{Place, TEST, TRAIN, in_one_line, stderr};

#[test]
fn list_says_what_is_there() {
    let text = Place::new().success("data list");
    let line = |name: &str| {
        let mut lines = text.lines().map(str::trim);
        let found = lines.find(|l| l.split_whitespace().next() == Some(name));
        found.unwrap_or_else(|| panic!("{name}: {text}")).to_owned()
    };
    assert!(line("synth-digits").contains("built in"), "{text}");
    assert!(line("mnist").contains("present"), "{text}");
    assert!(line("adult").contains("absent"), "{text}");
}

#[test]
fn info_counts_and_checks() {
    let text = Place::new().success("data info mnist");
    for part in [
        &format!("training  {TRAIN}")[..],
        &format!("test      {TEST}"),
        "x [1x28x28] numbers",
        "Classes: 10",
        "mnist/t10k-labels-idx1-ubyte",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn previews_are_sheets_of_the_classes() {
    let place = Place::new();
    let text = place.success("data preview mnist --columns 3 --out sheet.png");
    assert!(text.contains("row 10  9"), "{text}");
    let sheet = image::load_from_memory(&place.read("sheet.png"))
        .unwrap()
        .to_rgb8();
    // Ten classes of three images, 28 pixels doubled, 4 between them.
    assert_eq!(sheet.dimensions(), (3 * 60 + 4, 10 * 60 + 4));
    let bright = |row: u32| {
        let bar = (0..28).filter(|y| sheet.get_pixel(4 + 28, row * 60 + 4 + 2 * y)[0] >= 200);
        bar.collect::<Vec<_>>()
    };
    assert_eq!((bright(0), bright(9)), (vec![0, 1], vec![18, 19]));
}

/// Neither the table that is looked at, nor a file whose name says that it is something else.
#[test]
fn sheets_replace_no_other_files() {
    let place = Place::new();
    let table = b"a,y\n1,p\n2,q\n3,p\n4,q\n5,p\n6,q\n";
    place.write("t.csv", table);
    for name in ["t.csv", "sheet.jpg", "sheet"] {
        let text = place.failure(&format!("data preview mnist --out {name}"), 2);
        let expected = "expected the name of a sheet of images to end in .png";
        assert!(in_one_line(&text).contains(expected), "{text}");
    }
    assert_eq!(place.read("t.csv"), table);
    // A sheet is replaced as a whole, and leaves no other file behind.
    place.write("old/sheet.PNG", b"older");
    place.success("data preview mnist --out old/sheet.PNG");
    assert!(image::load_from_memory(&place.read("old/sheet.PNG")).is_ok());
    assert_eq!(place.files("old"), ["sheet.PNG"]);
    // Rows are printed.
    let line = "data preview csv:t.csv --target-column y --out rows.png";
    let text = place.failure(line, 1);
    assert!(text.contains("--out is the file of a sheet"), "{text}");
    assert!(text.contains("`t.csv` has no images"), "{text}");
    assert!(!place.path("rows.png").exists());
}

#[test]
fn partitions_are_shown_and_drawn() {
    let place = Place::new();
    let line = "data partition mnist --partition shards:1 --clients 10 --out who.svg";
    let text = place.success(line);
    let summary = format!("{TRAIN} of {TRAIN} training examples held by 10 clients, 30 to 30 each");
    assert!(text.contains(&summary), "{text}");
    let drawing = place.text("who.svg");
    assert!(drawing.starts_with("<svg"), "{drawing}");
    // All have as many; the last part of the scale has the same colour.
    let cells = drawing.matches("fill=\"#FDE725\"").count();
    assert_eq!(cells, 10 + 1, "a shard is a class");
}

#[test]
fn examples_that_clients_share_count_once() {
    let place = Place::new();
    let line = "data partition mnist --partition shared:50 --clients 90 --json";
    let json: serde_json::Value = serde_json::from_str(&place.success(line)).unwrap();
    assert_eq!(
        (&json["examples"], &json["held"]),
        (&300.into(), &300.into())
    );
}

#[test]
fn bad_input_says_what_to_do() {
    let place = Place::new();
    for (line, parts) in [
        (
            "data info mnis",
            ["did you mean `mnist`", "fedround data list"],
        ),
        (
            "data info adult",
            ["adult/adult.data", "fedround data fetch"],
        ),
        (
            "data partition mnist --partition shards:99",
            ["99", "fedround list partitioners"],
        ),
        (
            "data preview mnist --columns 0 --out a.png",
            ["--columns", "at least 1"],
        ),
        (
            "data preview mnist --out none/a.png",
            ["cannot write none/a.png", "No such file"],
        ),
        ("data fetch pacs", ["cannot be fetched", "DIR is data"]),
    ] {
        let text = place.failure(line, 1);
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

/// `fedround data fetch mnist` from an address, past any proxy.
fn fetch(place: &Place, mirror: &str) -> Command {
    let mut command = place.command(&format!(
        "data fetch mnist --data-dir new --mirror {mirror}"
    ));
    for proxy in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(proxy);
    }
    command
}

#[test]
fn nobody_there_says_how_to_get_the_files() {
    let place = Place::new();
    let output = fetch(&place, "http://127.0.0.1:1").output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for part in ["cannot reach", "Get the four .gz files", "DIR is new"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(place.files("new").is_empty());
}

#[test]
fn files_that_are_not_the_published_ones_are_refused() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mirror = format!("http://{}/mnist", listener.local_addr().unwrap());
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = BufReader::new(stream.try_clone().unwrap()).lines();
        let asked = head.next().unwrap().unwrap();
        head.map(Result::unwrap)
            .take_while(|l| !l.is_empty())
            .count();
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nwrong";
        stream.write_all(answer.as_bytes()).unwrap();
        asked
    });
    let output = fetch(&place, &mirror).output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("is not the published file: expected sha256 440fcabf"),
        "{text}"
    );
    assert_eq!(
        asked.join().unwrap(),
        "GET /mnist/train-images-idx3-ubyte.gz HTTP/1.1"
    );
    assert!(place.files("new/mnist").is_empty());
}
