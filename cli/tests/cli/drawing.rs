//! Drawings as PNG and PDF: the files that a build with the feature `raster` writes, and the error of one
//! without it.

use crate::bench::TINY;
use crate::support::{Place, SMALL};

/// Each command that draws, with the file that it writes beside others, or `None` for stdout.
fn commands(format: &str) -> [(String, Option<String>); 4] {
    let file = |name: &str| Some(format!("{name}.{format}"));
    [
        (format!("graph fedavg --format {format}"), None),
        (
            format!("data partition mnist --partition shards:1 --clients 10 --out who.{format}"),
            file("who"),
        ),
        (format!("report run --format {format}"), file("run/curves")),
        (
            format!("bench {TINY} --sweep clients=10,20 --plot times.{format}"),
            file("times"),
        ),
    ]
}

/// A run, of which there is something to report.
fn place() -> Place {
    let place = Place::new();
    place.success(&format!("run fedavg {SMALL} --quiet --out run"));
    place
}

/// What a command writes to a file, or else to stdout.
#[cfg(feature = "raster")]
fn written(place: &Place, line: &str, file: Option<String>) -> Vec<u8> {
    let output = place.output(line);
    assert!(output.status.success(), "{line}: {output:?}");
    file.map_or(output.stdout, |file| place.read(&file))
}

#[cfg(feature = "raster")]
#[test]
fn every_command_that_draws_writes_pictures() {
    let place = place();
    for (line, file) in commands("png") {
        let bytes = written(&place, &line, file);
        let image = image::load_from_memory_with_format(&bytes, image::ImageFormat::Png);
        let image = image.unwrap_or_else(|error| panic!("{line}: {error}"));
        let image = image.to_rgb8();
        let (width, height) = image.dimensions();
        assert!(width > 200 && height > 100, "{line}: {width} × {height}");
        let first = image.get_pixel(0, 0);
        let other = image.pixels().filter(|pixel| *pixel != first).count();
        assert!(
            other > 500,
            "{line}: {other} pixels that are not background"
        );
    }
    // Two pixels for each of the drawing's, in every drawing of the folder.
    let image = image::load_from_memory(&place.read("run/classes.png")).unwrap();
    let size = format!(
        "width=\"{}\" height=\"{}\"",
        image.width() / 2,
        image.height() / 2
    );
    assert!(place.text("run/classes.svg").contains(&size), "{size}");
    assert!(place.path("run/report.html").exists());
}

#[cfg(feature = "raster")]
#[test]
fn every_command_that_draws_writes_pages() {
    let place = place();
    for (line, file) in commands("pdf") {
        let bytes = written(&place, &line, file);
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with("%PDF-"), "{line}");
        assert!(text.trim_end().ends_with("%%EOF"), "{line}");
        assert!(text.contains("/Type /Page\n"), "{line}");
        assert!(text.contains("/Type /Font"), "{line}: no letters");
    }
}

#[cfg(not(feature = "raster"))]
#[test]
fn a_build_without_pictures_says_so_and_writes_nothing() {
    let place = place();
    let before = (place.files(""), place.files("run"));
    for format in ["png", "pdf"] {
        for (line, _) in commands(format) {
            let output = place.output(&line);
            let text = crate::support::stderr(&output);
            assert!(
                !output.status.success() && output.stdout.is_empty(),
                "{line}"
            );
            let what = format!("for {}, build it with", format.to_uppercase());
            assert!(text.contains(&what), "{line}: {text}");
            assert!(text.contains("--features raster"), "{line}: {text}");
            assert_eq!((place.files(""), place.files("run")), before, "{line}");
        }
    }
}
