//! Tables in Parquet files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use fedround_data::ReadOptions;
use fedround_data::own::Missing;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::{folder, inputs, message, read, write};

const SCHEMA: &str = "message table {
  OPTIONAL INT64 age;
  REQUIRED DOUBLE height;
  REQUIRED BYTE_ARRAY job (STRING);
  REQUIRED BYTE_ARRAY income (STRING);
}";

/// Ten people; the age of one is not known.
fn people(path: &Path, compression: Compression) {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = WriterProperties::builder().set_compression(compression);
    let properties = Arc::new(properties.build());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    let text = |i: usize| ByteArray::from(["cook", "nurse, \"old\""][i % 2]);
    let class = |i: usize| ByteArray::from(["low", "high"][i % 2]);
    let ages: Vec<i64> = (0..9).map(|i| 20 + i).collect();
    let heights: Vec<f64> = (0..10).map(|i| 1.5 + f64::from(i) / 10.0).collect();
    let known: Vec<i16> = (0..10).map(|i| i16::from(i != 4)).collect();
    let mut column = rows.next_column().unwrap().unwrap();
    let numbers = column.typed::<Int64Type>();
    numbers.write_batch(&ages, Some(&known), None).unwrap();
    column.close().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    let numbers = column.typed::<DoubleType>();
    numbers.write_batch(&heights, None, None).unwrap();
    column.close().unwrap();
    for of in [&text as &dyn Fn(usize) -> ByteArray, &class] {
        let texts: Vec<ByteArray> = (0..10).map(of).collect();
        let mut column = rows.next_column().unwrap().unwrap();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&texts, None, None).unwrap();
        column.close().unwrap();
    }
    rows.close().unwrap();
    writer.close().unwrap();
}

fn of(target: &str, missing: Missing) -> ReadOptions {
    ReadOptions {
        target: Some(target.to_owned()),
        missing,
        ..ReadOptions::default()
    }
}

#[test]
fn a_table_is_that_of_the_same_csv() {
    let root = folder(&[]);
    let path = root.path().join("people.parquet");
    let mut text = "age,height,job,income\n".to_owned();
    let ages = ["20", "21", "22", "23", "", "24", "25", "26", "27", "28"];
    for (i, age) in ages.into_iter().enumerate() {
        let height = 1.5 + i as f64 / 10.0;
        let job = ["cook", "\"nurse, \"\"old\"\"\""][i % 2];
        text += &format!("{age},{height},{job},{}\n", ["low", "high"][i % 2]);
    }
    write(&root.path().join("people.csv"), text.as_bytes());
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(Default::default()),
    ] {
        people(&path, compression);
        for missing in [Missing::Fill, Missing::Drop] {
            let [found, expected] = ["parquet:DIR/people.parquet", "csv:DIR/people.csv"]
                .map(|data| read(&root, data, of("income", missing)));
            assert_eq!(inputs(&found), inputs(&expected));
            assert_eq!(found.train.labels(), expected.train.labels());
            assert_eq!(found.class_names, expected.class_names);
        }
        let data = read(&root, "csv:DIR/people.csv", of("income", Missing::Fill));
        let encoder = data.table.unwrap();
        let [of_parquet, of_csv] = ["people.parquet", "people.csv"].map(|file| {
            let column = encoder.encode(&root.path().join(file)).unwrap();
            let mut x = vec![0.0; 10 * encoder.width()];
            let rows: Vec<usize> = (0..10).collect();
            column.gather_into(&rows, &mut x).unwrap();
            x
        });
        assert_eq!(of_parquet, of_csv);
    }
}

#[test]
fn errors_name_file_row_and_column() {
    let root = folder(&[("cut.parquet", b"PAR1 and no more")]);
    let path = root.path().join("people.parquet");
    people(&path, Compression::SNAPPY);
    let text = message(
        &root,
        "parquet:DIR/people.parquet",
        of("income", Missing::Stop),
    );
    assert!(
        text.starts_with("DIR/people.parquet:6: column `age` has no value"),
        "{text}"
    );
    let text = message(
        &root,
        "parquet:DIR/people.parquet",
        of("incom", Missing::Fill),
    );
    assert!(text.contains("did you mean `income`"), "{text}");
    let text = message(
        &root,
        "parquet:DIR/cut.parquet",
        of("income", Missing::Stop),
    );
    assert!(
        text.starts_with("DIR/cut.parquet: expected a Parquet file"),
        "{text}"
    );
    let whole = std::fs::read(&path).unwrap();
    for n in (0..whole.len()).step_by(7) {
        write(&path, &whole[..n]);
        message(
            &root,
            "parquet:DIR/people.parquet",
            of("income", Missing::Fill),
        );
    }
}
