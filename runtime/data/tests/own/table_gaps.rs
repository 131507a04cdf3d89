//! Rows that are left out decide nothing, and quotes around separators and line ends.

use std::sync::Arc;

use fedround_data::own::{Missing, Normalize};
use fedround_data::{InputEncoding, ReadOptions};

use super::{folder, inputs, message, read, write};

fn of_y(missing: Missing) -> ReadOptions {
    ReadOptions {
        target: Some("y".to_owned()),
        missing,
        normalize: Normalize::None,
        ..ReadOptions::default()
    }
}

#[test]
fn rows_that_are_left_out_do_not_decide_columns() {
    let root = folder(&[(
        "t.csv",
        b"a,b,y\n1,cook,p\nbroken,,p\n2,nurse,q\n3,cook,q\n4,,p\n5,driver,\n",
    )]);
    let data = read(&root, "csv:DIR/t.csv", of_y(Missing::Drop));
    let encoder = data.table.as_ref().unwrap();
    assert_eq!(encoder.names(), ["a", "b=cook", "b=nurse"]);
    assert_eq!(
        data.notes[0].rsplit_once(": ").unwrap().1,
        "left out 3 rows with missing values (b 2, y 1)"
    );
    // The model has seen no missing value.
    let new = root.path().join("new.csv");
    write(&new, b"a,b\n1,\n");
    let error = encoder.encode(&new).unwrap_err().to_string();
    assert!(
        error.ends_with("new.csv:2: column `b`: expected a value, found ``"),
        "{error}"
    );
}

/// What is named is what can be changed: an input can be left out, a target cannot.
#[test]
fn columns_without_values_are_told_apart() {
    let error = |text: &str, client: Option<&str>| {
        let root = folder(&[("t.csv", text.as_bytes())]);
        let reading = ReadOptions {
            client_column: client.map(str::to_owned),
            ..of_y(Missing::Drop)
        };
        message(&root, "csv:DIR/t.csv", reading)
    };
    let of_inputs = error("a,b,y\n1,,p\n2,,q\n", None);
    assert!(
        of_inputs.ends_with("column `b` has no value in any row; leave the column out"),
        "{of_inputs}"
    );
    let of_target = error("a,y\n1,\n2,\n", None);
    assert!(
        of_target.ends_with("column `y`, which names the classes, has no value in any row"),
        "{of_target}"
    );
    let of_clients = error("a,k,y\n1,,p\n2,,q\n", Some("k"));
    assert!(
        of_clients.ends_with("column `k`, which names the clients, has no value in any row"),
        "{of_clients}"
    );
}

/// A model that has been trained knows what to fill gaps with; a training table without values does not.
#[test]
fn a_column_without_values_is_filled_only_for_a_model() {
    let root = folder(&[
        ("t.csv", b"a,b,y\n1,5,p\n2,,q\n3,7,p\n"),
        ("gaps.csv", b"a,b,y\n1,,p\n2,,q\n"),
    ]);
    let error = message(&root, "csv:DIR/gaps.csv", of_y(Missing::Fill));
    assert_eq!(
        error,
        "DIR/gaps.csv: column `b` has no value in any row; leave the column out"
    );
    let both = "csv:DIR/t.csv,DIR/gaps.csv";
    let trained = read(&root, both, of_y(Missing::Fill));
    assert_eq!(trained.test.len(), 2);
    let reading = ReadOptions {
        like: Some(Arc::new(InputEncoding::of(&trained))),
        all_tests: true,
        ..of_y(Missing::Fill)
    };
    let data = read(&root, "csv:DIR/gaps.csv", reading);
    assert_eq!(inputs(&data), [1.0, 6.0, 2.0, 6.0]);
}

/// A model knows the mean of each column of numbers, and has an input for missing texts only if it has seen one.
#[test]
fn numbers_are_filled_where_none_was_missing_in_training() {
    let root = folder(&[
        ("t.csv", b"a,b,c,y\n1,5,u,p\n2,6,v,q\n3,,u,p\n"),
        ("new.csv", b"a,b,c,y\n,7,v,p\n1,5,u,q\n"),
        ("text.csv", b"a,b,c,y\n1,7,,p\n1,5,u,q\n"),
    ]);
    let both = "csv:DIR/t.csv,DIR/t.csv";
    let trained = read(&root, both, of_y(Missing::Fill));
    let expected = [2.0, 7.0, 0.0, 1.0, 1.0, 5.0, 1.0, 0.0];
    let like = |missing| ReadOptions {
        like: Some(Arc::new(InputEncoding::of(&trained))),
        all_tests: true,
        ..of_y(missing)
    };
    let data = read(&root, "csv:DIR/new.csv", like(Missing::Fill));
    assert_eq!(inputs(&data), expected);
    let text = message(&root, "csv:DIR/text.csv", like(Missing::Fill));
    assert!(
        text.ends_with("column `c`: expected a value, found ``"),
        "{text}"
    );
    // By itself, the encoding has no gap but those of the training table.
    let table = trained.table.as_ref().unwrap();
    let new = root.path().join("new.csv");
    assert!(table.encode(&new).is_err());
    let filling = (**table).clone().filling_numbers();
    assert_eq!(filling.names(), table.names());
    assert!(filling.encode(&new).is_ok());
    assert!(filling.encode(&root.path().join("text.csv")).is_err());
}

#[test]
fn separators_in_quotes_do_not_count() {
    let text = b"a;\"b,c,d\";y\n1;2;p\n3;4;q\n";
    let root = folder(&[("t.csv", text)]);
    let data = read(&root, "csv:DIR/t.csv", of_y(Missing::Stop));
    assert_eq!(data.table.unwrap().names(), ["a", "b,c,d"]);
}

#[test]
fn quoted_fields_may_have_line_ends() {
    let text = "a,\"b\nc\",y\n1,\"x\ny\",p\n2,\"x\r\ny\",q\n3,\"x\ny\",q\n";
    let root = folder(&[("t.csv", text.as_bytes())]);
    let all = "csv:DIR/t.csv,DIR/t.csv";
    let data = read(&root, all, of_y(Missing::Stop));
    let encoder = data.table.as_ref().unwrap();
    assert_eq!(encoder.names(), ["a", "b\nc=x\ny", "b\nc=x\r\ny"]);
    assert_eq!(inputs(&data), [1.0, 1.0, 0.0, 2.0, 0.0, 1.0, 3.0, 1.0, 0.0]);
    // Lines are those of the file.
    let error = |text: String| {
        let root = folder(&[("t.csv", text.as_bytes())]);
        message(&root, "csv:DIR/t.csv", of_y(Missing::Stop))
    };
    let gap = error(format!("{text},x,p\n"));
    assert!(
        gap.starts_with("DIR/t.csv:9: column `a` has no value"),
        "{gap}"
    );
    // The rest of the file is no field.
    let open = "t.csv:9: a field begins with a quote that is not closed";
    for rest in ["4,x,\"q\n5,x,p\n", "4,\"x,q\n5,x,p\n", "4,\"x,q\n5,\"x,p\n"] {
        let found = error(format!("{text}{rest}"));
        assert!(found.contains(open), "{rest:?}: {found}");
    }
    let found = error("a,\"y\n1,p\n2,q\n".to_owned());
    assert!(
        found.contains("t.csv:1: a field begins with a quote"),
        "{found}"
    );
}
