//! The files that the pages' commands read.

use std::fs;

use image::{GrayImage, Luma};
use serde_json::{Value, json};

use super::arrays::{npy, npz};
use crate::support::Place;

/// Writes them.
pub fn files(place: &Place) {
    let image = |name: &str, bright: u32, size: u32| {
        let pixel = |_, y| Luma([if y * 2 / size == bright { 200 } else { 10 }]);
        let path = place.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        GrayImage::from_fn(size, size, pixel).save(path).unwrap();
    };
    for i in 0..20 {
        image(&format!("photos/cat/{i}.png"), 0, 28);
        image(&format!("photos/dog/{i}.png"), 1, 28);
    }
    image("new.jpg", 0, 28);
    image("three.png", 0, 28);
    image("five.png", 1, 28);
    let row = vec!["128"; 784].join(",");
    place.write("images.csv", format!("{row}\n{row}\n").as_bytes());
    place.write("images.npy", &npy("|u1", "2, 28, 28", vec![128; 2 * 784]));
    place.write(
        "phones.csv",
        ("speed\n".to_owned() + &"10\n".repeat(100)).as_bytes(),
    );
    let mut people = "age,work,town,income\n".to_owned();
    for i in 0..60 {
        let (work, income) = [("shop", "low"), ("bank", "high")][i % 2];
        people += &format!("{},{work},town{},{income}\n", 20 + i % 40, i % 3);
    }
    place.write("people.csv", people.as_bytes());
    place.write("new.csv", b"age,work\n30,shop\n40,bank\n");
    arrays(place);
    leaf(place);
}

/// Arrays of two classes, and an archive that names four clients.
fn arrays(place: &Place) {
    let x = (0..400_u32).flat_map(|i| ((i % 7) as f32).to_le_bytes());
    let x = npy("<f4", "100, 4", x.collect());
    let y = (0..100_i64).flat_map(|i| (i % 2).to_le_bytes());
    let y = npy("<i8", "100,", y.collect());
    let clients = (0..100_i64).flat_map(|i| (i / 25).to_le_bytes());
    let clients = npy("<i8", "100,", clients.collect());
    place.write("new.npy", &npy("<f4", "2, 4", vec![0; 2 * 4 * 4]));
    place.write("x.npy", &x);
    place.write("y.npy", &y);
    place.write(
        "data.npz",
        &npz(&[("x", x), ("y", y), ("clients", clients)]),
    );
}

/// LEAF's files of two users: images, and the characters that they say next.
fn leaf(place: &Place) {
    let folder = |name: &str, users: [Value; 2]| {
        let [one, other] = users;
        let file = json!({ "user_data": { "one": one, "other": other } });
        place.write(
            &format!("{name}/train/all.json"),
            file.to_string().as_bytes(),
        );
        place.write(
            &format!("{name}/test/all.json"),
            file.to_string().as_bytes(),
        );
    };
    let images = |level: f32| {
        let x: Vec<Vec<f32>> = (0..6).map(|i| vec![level * (i % 2) as f32; 784]).collect();
        let y: Vec<usize> = (0..6).map(|i| i % 2).collect();
        json!({ "x": x, "y": y })
    };
    folder("femnist", [images(0.5), images(0.9)]);
    let says = |text: &str| {
        let text: Vec<char> = text.chars().cycle().take(12).collect();
        let windows = text.windows(5);
        let (x, y): (Vec<String>, Vec<String>) = windows
            .map(|w| (w[..4].iter().collect(), w[4].to_string()))
            .unzip();
        json!({ "x": x, "y": y })
    };
    for (play, texts) in [
        ("shakespeare", ["to be", "or not"]),
        ("plays", ["abcd", "cdab"]),
        ("letters", ["acbd", "bdac"]),
    ] {
        folder(play, texts.map(says));
    }
}
