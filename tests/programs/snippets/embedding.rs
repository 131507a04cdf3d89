//! The programs of docs/embedding.md, run.

use fedround::Experiment;
use fedround::algorithms::Scaffold;
use fedround::data::{Partition, synth::SynthDigits};

fn experiment() -> Experiment {
    let data = SynthDigits {
        train: 200,
        test: 50,
        ..SynthDigits::default()
    };
    Experiment::new(Scaffold::default())
        .model("logistic")
        .data(data.generate())
        .clients(10)
        .partition(Partition::Iid)
        .threads(2)
}

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fedround::experiment::{Observer, Report, Scores, Status};
use fedround::simulation::Simulation;

struct Job {
    id: u64,
    cancelled: Arc<AtomicBool>,
}

impl Observer for Job {
    fn stop_requested(&mut self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn round_finished(&mut self, report: &Report, _: &Simulation) {
        let Some(round) = report.history.last() else {
            return;
        };
        // Or, in a program that uses tracing:
        // tracing::info!(job = self.id, round = round.number, loss = round.train_loss);
        println!("job {}, round {}", self.id, round.number);
        println!("loss {}", round.train_loss);
        if let Some(accuracy) = round.scores.as_ref().and_then(Scores::headline) {
            println!("accuracy {accuracy}");
        }
    }
}

fn cancel() -> Result<Report, Box<dyn Error>> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let mut job = Job {
        id: 7,
        cancelled: cancelled.clone(),
    };
    let training = std::thread::spawn(move || experiment().run_observed(1000, &mut job));
    // From any thread, such as a handler of requests:
    cancelled.store(true, Ordering::Relaxed);
    let report = training.join().map_err(|_| "the observer panicked")??;
    if report.status == Status::Interrupted {
        println!("cancelled after {} rounds", report.rounds());
    }
    Ok(report)
}

use std::error::Error;
use std::path::Path;

use fedround::simulation::ByteSize;
use fedround::store::Archive;

fn continue_job(folder: &Path, rounds: usize, job: &mut Job) -> Result<Report, Box<dyn Error>> {
    let file = folder.join("job.ckpt");
    let mut run = experiment()
        .client_memory(ByteSize(64 << 20))
        .prepare(rounds)?;
    let states = folder.join("clients.redb");
    run.set_client_store(&states)?;
    if file.exists() {
        run.restore(&Archive::read(&file)?)?;
    } else if states.exists() {
        // Of a process that ended before its first checkpoint.
        std::fs::remove_file(&states)?;
    }
    while !job.stop_requested() {
        match run.step(job) {
            Ok(true) if run.report().rounds() % 10 == 0 => {
                run.save()?.write(&file)?;
            }
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(run.fail(error).into()),
        }
    }
    run.save()?.write(&file)?;
    Ok(run.finish()?)
}

use fedround::data::Examples;
use fedround::experiment::write_model;

fn save(report: &Report, file: &Path) -> Result<(), Box<dyn Error>> {
    Ok(write_model(file, &report.parameters)?)
}

fn classify(file: &Path, new: &Examples) -> Result<Vec<usize>, Box<dyn Error>> {
    let model = experiment().weights(file).prepare(1)?;
    let probabilities = model.predict(new)?;
    let most_likely = |row: &Vec<f64>| {
        let classes = 0..row.len();
        classes.max_by(|&a, &b| row[a].total_cmp(&row[b]))
    };
    Ok(probabilities.iter().filter_map(most_likely).collect())
}

#[test]
fn the_page_has_this_code() {
    let page = include_str!("../../../docs/embedding.md");
    let code = super::plain(include_str!("embedding.rs"));
    let blocks: Vec<&str> = page.split("```rust\n").skip(1).collect();
    assert_eq!(blocks.len(), 5);
    for block in blocks {
        let block = block.split("```").next().unwrap();
        assert!(code.contains(&super::plain(block)), "{block}");
    }
}

#[test]
fn a_job_can_be_cancelled() {
    let report = cancel().unwrap();
    assert_eq!(report.status, Status::Interrupted);
    assert!(report.rounds() < 1000, "{}", report.rounds());
}

#[test]
fn a_job_goes_on_and_its_model_classifies() {
    let folder = tempfile::tempdir().unwrap();
    let job = || Job {
        id: 1,
        cancelled: Arc::default(),
    };
    let whole = experiment().run(3).unwrap();
    let part = continue_job(folder.path(), 2, &mut job()).unwrap();
    assert_eq!(part.rounds(), 2);
    let report = continue_job(folder.path(), 3, &mut job()).unwrap();
    assert_eq!(report.rounds(), 3);
    assert!(report.parameters == whole.parameters, "other bits");

    let file = folder.path().join("model.safetensors");
    save(&report, &file).unwrap();
    let run = experiment().prepare(1).unwrap();
    let test = &run.data().test;
    let classes = classify(&file, test).unwrap();
    let pairs = classes.iter().zip(test.labels());
    let right = pairs.filter(|(class, label)| **class == usize::from(**label));
    let accuracy = right.count() as f64 / test.len() as f64;
    assert_eq!(accuracy, report.scores.unwrap().accuracy);
}
