use super::*;
use crate::RecordError;

const LINES: &str = "\
|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40, United-States, <=50K.
38, ?, 89814, HS-grad, 9, Divorced, ?, Husband, White, Female, 10, 0, 50, ?, >50K

28, Private, 336951, 12th, 8, Divorced, Sales, Husband, Other, Male, 0, 0, 40, Cuba, >50K.
";

fn read(text: &str) -> Result<Vec<Person>, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("adult.data");
    std::fs::write(&path, text).unwrap();
    people(&path)
}

fn line_of(text: &str) -> u64 {
    match read(text).unwrap_err() {
        DataError::Record(
            RecordError::Field { line, .. }
            | RecordError::Fields { line, .. }
            | RecordError::BreaksOff { line, .. },
        ) => line,
        error => panic!("{error}"),
    }
}

#[test]
fn lines_become_people() {
    let people = read(LINES).unwrap();
    assert_eq!(people.len(), 2, "the third has another race");
    assert_eq!(people[0].numbers, [25.0, 7.0, 0.0, 0.0, 40.0]);
    assert_eq!(
        (people[0].white, people[0].male, people[0].rich),
        (false, true, false)
    );
    let value = |c: usize| CATEGORIES[c].1[usize::from(people[1].categories[c])];
    assert_eq!(
        (value(0), value(3), value(5)),
        ("Unknown", "Unknown", "Unknown")
    );
    assert!(people[1].white && !people[1].male && people[1].rich);
}

#[test]
fn values_are_in_alphabetical_order() {
    for (name, values) in CATEGORIES {
        assert!(values.is_sorted(), "{name}");
    }
}

#[test]
fn errors_say_the_line() {
    assert_eq!(line_of(&LINES.replace("HS-grad", "HS-grid")), 3);
    assert_eq!(line_of(&LINES.replace("38,", "-3,")), 3);
    assert_eq!(line_of(&LINES.replace(">50K.", "50K")), 5);
    assert_eq!(line_of(&LINES.replace(", Sales", "")), 5);
    assert_eq!(line_of(LINES.trim_end()), 5);
    let error = read(&LINES.replace("Female", "F")).unwrap_err().to_string();
    assert!(
        error.ends_with("adult.data:3: sex: expected one of Female, Male, found `F`"),
        "{error}"
    );
}

#[test]
fn inputs_are_standardised_by_the_training_people() {
    let people = read(LINES).unwrap();
    let encoding = Encoding::new(&people, &people[..1]);
    assert_eq!(encoding.inputs[..2], ["age", "education-num"]);
    assert_eq!(encoding.inputs[5], "workclass=Unknown");
    let width = encoding.inputs.len();
    assert_eq!((width, encoding.train.x.len()), (5 + 6, 2 * width));
    assert_eq!((encoding.train.x[0], encoding.train.x[width]), (-1.0, 1.0));
    assert_eq!(encoding.train.x[3], 0.0, "a constant");
    assert_eq!(encoding.test.x, encoding.train.x[..width]);
    assert_eq!(encoding.train.protected, [0.0, 1.0, 1.0, 0.0]);
    assert_eq!(encoding.train.labels, [0, 1]);
}

#[test]
fn halves_have_the_same_share_of_each_class() {
    let person = |rich| Person {
        numbers: [0.0; 5],
        categories: [0; 6],
        white: true,
        male: true,
        rich,
    };
    let all: Vec<_> = (0..31).map(|i| person(i % 3 == 0)).collect();
    let (train, test) = halves(all, 7);
    let rich = |people: &[Person]| people.iter().filter(|p| p.rich).count();
    assert_eq!((train.len(), test.len()), (16, 15));
    assert_eq!((rich(&train), rich(&test)), (6, 5));
}
