//! The files that the pages' commands read.

use std::fs;

use image::{GrayImage, Luma};

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
    let array = |name: &str, kind: &str, shape: &str, values: Vec<u8>| {
        let head = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
        let head = format!("{head:117}\n");
        let bytes = [b"\x93NUMPY\x01\x00".as_slice(), &118_u16.to_le_bytes()].concat();
        place.write(name, &[bytes, head.into_bytes(), values].concat());
    };
    let x = (0..400_u32).flat_map(|i| ((i % 7) as f32).to_le_bytes());
    array("x.npy", "<f4", "100, 4", x.collect());
    let y = (0..100_i64).flat_map(|i| (i % 2).to_le_bytes());
    array("y.npy", "<i8", "100,", y.collect());
}
