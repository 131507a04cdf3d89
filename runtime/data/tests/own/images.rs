use std::fs;
use std::io::Cursor;

use fedround_data::own::{Broken, Normalize};
use fedround_data::{Column, Fit, ImageFiles, Partition, ReadOptions, Scale};
use image::{DynamicImage, GrayImage, ImageFormat, RgbImage};

use super::{folder, inputs, message, read, write};

pub fn png(image: impl Into<DynamicImage>) -> Vec<u8> {
    let mut bytes = Cursor::new(vec![]);
    image.into().write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

pub fn grey(side: u32, level: u8) -> Vec<u8> {
    png(GrayImage::from_pixel(side, side, image::Luma([level])))
}

/// Two classes of ten images each.
fn two_classes() -> tempfile::TempDir {
    let root = folder(&[]);
    for i in 0..10 {
        write(&root.path().join(format!("cat/{i}.png")), &grey(8, 10 * i));
        write(&root.path().join(format!("dog/{i}.png")), &grey(8, 250));
    }
    root
}

fn plain() -> ReadOptions {
    ReadOptions {
        normalize: Normalize::None,
        ..ReadOptions::default()
    }
}

#[test]
fn a_folder_for_each_class() {
    let root = two_classes();
    let data = read(&root, "images:DIR", plain());
    assert_eq!(data.class_names, ["cat", "dog"]);
    assert_eq!((data.train.len(), data.test.len()), (16, 4));
    assert_eq!(data.train.shape(), [1, 8, 8]);
    assert!(data.train.x().is_decoded() && data.groups.is_none());
    for split in [&data.train, &data.test] {
        let dogs = split.labels().iter().filter(|&&label| label == 1).count();
        assert_eq!(dogs, split.len() / 2);
    }
    // A mean of 0 and a deviation of 1 by default.
    let x = inputs(&read(&root, "images:DIR", ReadOptions::default()));
    let mean = x.iter().sum::<f32>() / x.len() as f32;
    let variance = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
    assert!(
        mean.abs() < 1e-3 && (variance - 1.0).abs() < 1e-3,
        "{mean} {variance}"
    );
}

#[test]
fn one_more_level_names_clients() {
    let root = folder(&[]);
    for client in ["ann", "bob"] {
        for class in ["cat", "dog"] {
            for i in 0..5 {
                let place = format!("train/{client}/{class}/{i}.png");
                write(&root.path().join(place), &grey(4, i));
            }
        }
    }
    write(&root.path().join("test/ann/cat/1.png"), &grey(4, 1));
    let data = read(&root, "images:DIR", plain());
    assert_eq!((data.train.len(), data.test.len()), (20, 1));
    assert_eq!(data.group_names, ["ann", "bob"]);
    let splits = Partition::Natural.deal(&data, 2, 1).unwrap();
    assert_eq!(splits[0].train.len(), 10);
    assert_eq!([splits[0].test.len(), splits[1].test.len()], [1, 0]);

    write(&root.path().join("test/ann/cow/1.png"), &grey(4, 1));
    assert_eq!(
        message(&root, "images:DIR", plain()),
        "DIR/test: class `cow` is only in the test examples; give it training examples, or remove it"
    );
}

#[test]
fn sizes_follow_from_the_images() {
    let root = two_classes();
    let resized = ReadOptions {
        resize: Some(5),
        ..plain()
    };
    assert_eq!(read(&root, "images:DIR", resized).train.shape(), [1, 5, 5]);
    let colour = png(RgbImage::from_pixel(9, 8, image::Rgb([255, 0, 0])));
    write(&root.path().join("cat/red.png"), &colour);
    let data = read(&root, "images:DIR", plain());
    assert_eq!(data.train.shape(), [3, 64, 64]);
    assert!(data.notes[0].starts_with("images differ in size and are brought to 64 x 64"));
}

#[test]
fn a_broken_image_is_named_and_left_out_if_asked() {
    let root = two_classes();
    let whole = png(GrayImage::from_fn(8, 8, |x, y| {
        image::Luma([(x * 31 + y * 7) as u8])
    }));
    write(
        &root.path().join("dog/broken.png"),
        &whole[..whole.len() / 2],
    );
    let data = read(&root, "images:DIR", plain());
    let all: Vec<usize> = (0..data.train.len()).collect();
    let found = [&data.train, &data.test].map(|split| {
        let all = &all[..split.len()];
        let mut x = vec![0.0; split.len() * 64];
        split
            .x()
            .gather_into(all, &mut x)
            .err()
            .map(|e| e.to_string())
    });
    let error = found.into_iter().flatten().next().unwrap();
    assert!(
        error.contains("dog/broken.png") && error.contains("remove it from the folder"),
        "{error}"
    );
    let skip = ReadOptions {
        broken: Broken::Skip,
        ..plain()
    };
    let data = read(&root, "images:DIR", skip.clone());
    assert_eq!(data.train.len() + data.test.len(), 20);
    assert!(
        data.notes[0].contains("left out: cannot decode") && data.notes[0].contains("broken.png")
    );

    let root = two_classes();
    write(&root.path().join("dog/empty.jpg"), b"");
    let error = message(&root, "images:DIR", plain());
    assert!(
        error.contains("dog/empty.jpg (0 bytes)") && !error.contains('\n'),
        "{error}"
    );
    let root = folder(&[("a/1.png", b"no"), ("b/2.png", b"image")]);
    let error = message(&root, "images:DIR", skip);
    assert!(
        error.starts_with("DIR: none of the 2 images can be decoded"),
        "{error}"
    );
}

/// Headers that claim 50,000 x 50,000 pixels, 7.5 GB.
#[test]
fn a_huge_image_takes_no_memory() {
    let mut bytes = png(RgbImage::new(2, 2));
    bytes[16..24].copy_from_slice(&[50_000u32.to_be_bytes(), 50_000u32.to_be_bytes()].concat());
    // The header's checksum.
    let sum = crc(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.to_be_bytes());
    let mut jpeg = Cursor::new(vec![]);
    let small = DynamicImage::from(RgbImage::new(8, 8));
    small.write_to(&mut jpeg, ImageFormat::Jpeg).unwrap();
    let mut jpeg = jpeg.into_inner();
    // The height and the width follow the marker, a length and the precision.
    let frame = jpeg.windows(2).position(|w| w == [0xFF, 0xC0]).unwrap();
    let side = 50_000u16.to_be_bytes();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[side, side].concat());
    let root = two_classes();
    write(&root.path().join("dog/huge.jpg"), &jpeg);
    let data = read(&root, "images:DIR", plain());
    let named = [&data.train, &data.test].map(|split| {
        let all: Vec<usize> = (0..split.len()).collect();
        let mut x = vec![0.0; split.len() * data.train.shape().iter().product::<usize>()];
        let found = split.x().gather_into(&all, &mut x);
        found.err().map(|error| error.to_string())
    });
    let named = named.into_iter().flatten().next().unwrap();
    assert!(
        named.contains("dog/huge.jpg") && named.contains("50000 x 50000 pixels"),
        "{named}"
    );
    write(&root.path().join("cat/huge.png"), &bytes);
    let skip = ReadOptions {
        broken: Broken::Skip,
        ..plain()
    };
    let data = read(&root, "images:DIR", skip);
    assert_eq!(data.train.len() + data.test.len(), 20);
    for name in ["huge.png", "huge.jpg"] {
        let note = data.notes.iter().find(|note| note.contains(name));
        let note = note.unwrap_or_else(|| panic!("{name}: {:?}", data.notes));
        let what = "it has 50000 x 50000 pixels, and an image may have 100 million";
        assert!(note.contains(what), "{note}");
    }
}

/// A photo that was taken with the camera on its side: the file says so, and the picture is read upright.
#[test]
fn photos_are_read_upright() {
    let sideways = RgbImage::from_fn(16, 8, |x, _| image::Rgb([if x < 8 { 250 } else { 5 }; 3]));
    let mut bytes = Cursor::new(vec![]);
    DynamicImage::from(sideways)
        .write_to(&mut bytes, ImageFormat::Jpeg)
        .unwrap();
    let bytes = bytes.into_inner();
    // One entry, number 0x112: turn by 90 degrees clockwise.
    let exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let length = (exif.len() as u16 + 2).to_be_bytes();
    let photo = [&bytes[..2], &[0xFF, 0xE1], &length, exif, &bytes[2..]].concat();
    let root = folder(&[]);
    for i in 0..4 {
        write(&root.path().join(format!("a/{i}.jpg")), &photo);
        write(&root.path().join(format!("b/{i}.jpg")), &photo);
    }
    let data = read(&root, "images:DIR", plain());
    assert_eq!(data.train.shape(), [3, 16, 8]);
    let x = &inputs(&data)[..16 * 8];
    assert!(x[..60].iter().all(|x| *x > 0.9), "{x:?}");
    assert!(x[68..].iter().all(|x| *x < 0.1), "{x:?}");
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[test]
fn other_layouts_are_explained() {
    let one = grey(4, 0);
    let root = folder(&[("a.png", &one), ("b.png", &one)]);
    assert_eq!(
        message(&root, "images:DIR", plain()),
        "DIR: expected a folder for each class with its images (JPEG or PNG), as in DIR/CLASS/IMAGE.jpg, or one more \
         level, CLIENT/CLASS/IMAGE.jpg; found 2 images directly in it"
    );
    let root = folder(&[("cat/1.png", &one), ("dog/old/2.png", &one)]);
    assert!(
        message(&root, "images:DIR", plain())
            .ends_with("found images in `cat` and folders in `dog`")
    );
    let root = folder(&[("cat/1.png", &one)]);
    assert_eq!(
        message(&root, "images:DIR", plain()),
        "DIR: expected 2 to 65,535 classes, found 1"
    );
    assert!(message(&folder(&[]), "images:DIR", plain()).ends_with("found an empty folder"));
    let root = folder(&[("cat/1.HEIC", b"x"), ("dog/1.HEIC", b"x")]);
    assert!(
        message(&root, "images:DIR", plain()).ends_with(
            "found folders without images, but with other files, such as `1.HEIC`; convert such pictures to JPEG"
        )
    );
    assert_eq!(
        message(&root, "images:DIR/cat/1.HEIC", plain()),
        "DIR/cat/1.HEIC: expected a folder, found a file"
    );
}

#[test]
fn images_beside_the_classes_are_named() {
    let root = two_classes();
    write(&root.path().join("new.png"), &grey(8, 3));
    let data = read(&root, "images:DIR", plain());
    assert_eq!(data.train.len() + data.test.len(), 20);
    assert!(
        data.notes[0].starts_with("1 image directly in "),
        "{:?}",
        data.notes
    );
    assert!(data.notes[0].ends_with("an image belongs into the folder of its class"));
}

#[test]
fn a_class_with_one_image_is_trained_on_and_noted() {
    let root = two_classes();
    write(&root.path().join("owl/1.png"), &grey(8, 3));
    write(&root.path().join("owl/notes.txt"), b"owls");
    let data = read(&root, "images:DIR", plain());
    assert_eq!(data.train.labels().iter().filter(|&&y| y == 2).count(), 1);
    let notes = data.notes.join("; ");
    assert!(
        notes.contains("classes with a single training example: owl"),
        "{notes}"
    );
    assert!(
        notes.contains("classes without a test example: owl"),
        "{notes}"
    );
    assert!(
        notes.contains("1 file in") && notes.contains(" is neither JPEG nor PNG"),
        "{notes}"
    );
}

/// Decoded images are read from the file they are kept in, unless it is damaged or the image changed.
#[test]
fn decoded_images_are_kept_in_a_file() {
    let root = folder(&[]);
    let image = root.path().join("a.png");
    let cache = root.path().join("cache/decoded");
    write(&image, &grey(4, 60));
    let gather_as = |fit: Fit, most: u64| {
        let files = ImageFiles::new(vec![image.clone(), image.clone()], [1, 4, 4], fit);
        let mut files = files.unwrap();
        files.keep_on_disk(&cache, most).unwrap();
        let mut x = vec![0.0; 32];
        let images = Column::images("x", files, Scale::Unit).unwrap();
        images.gather_into(&[1, 0], &mut x).map(|()| x[20])
    };
    let gather = |most| gather_as(Fit::Stretch, most);
    let size = || fs::metadata(&cache).unwrap().len();
    let level = 60.0 / 255.0;
    assert_eq!((gather(47).unwrap(), size()), (level, 24), "room for one");
    assert_eq!((gather(48).unwrap(), size()), (level, 48));

    // No image any more, but of the same size and time.
    let time = fs::metadata(&image).unwrap().modified().unwrap();
    let set_time = |time| {
        let file = fs::File::options().write(true).open(&image).unwrap();
        file.set_modified(time).unwrap();
    };
    let length = fs::metadata(&image).unwrap().len() as usize;
    fs::write(&image, vec![0; length]).unwrap();
    set_time(time);
    assert_eq!(gather(48).unwrap(), level);
    assert!(gather(47).is_err(), "one of the two is decoded");
    assert!(gather_as(Fit::Crop, 48).is_err(), "they were stretched");
    let whole = fs::read(&cache).unwrap();
    let mut damaged = whole.clone();
    damaged[30] ^= 1;
    fs::write(&cache, damaged).unwrap();
    assert!(gather(48).is_err());
    fs::write(&cache, whole).unwrap();
    assert_eq!(gather(48).unwrap(), level);
    set_time(time + std::time::Duration::from_secs(1));
    assert!(gather(48).is_err());
}
