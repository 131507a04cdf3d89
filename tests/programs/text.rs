//! Every bundled algorithm comes back from its text, at every stage.

use fedround::algorithms::registry;
use fedround::exec::{Program, assemble_for};
use fedround::ir::fed::{self, Module, print_exact};
use fedround::ir::tensor;
use fedround::models::{AuxiliaryTask, Losses, Task, find};
use fedround::trace::TracedModel;

fn comes_back(name: &str, module: &Module) {
    let text = print_exact(module);
    let read = fed::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    assert_eq!(fed::difference(module, &read), None, "{name}: {text}");
    assert_eq!(print_exact(&read), text, "{name}");
}

/// Every bundled algorithm, compiled for a small network.
pub(crate) fn programs() -> impl Iterator<Item = (&'static str, Program)> {
    let task = Task {
        input: [1, 28, 28],
        classes: 10,
    };
    let registry = registry();
    let names = registry.entries().iter().map(|entry| entry.name);
    let names: Vec<&'static str> = names.collect();
    names.into_iter().map(move |name| {
        let algorithm = registry.parse(name).unwrap();
        let model = find("cnn")
            .unwrap()
            .build(task, &Default::default())
            .unwrap();
        let around = AuxiliaryTask {
            task,
            clients: 3,
            variants: Default::default(),
        };
        let model = assemble_for(&*algorithm, model, &around, &Default::default());
        let tracer = TracedModel::new("cnn", model.unwrap().model, task, Losses::default());
        let tracer = tracer.with_columns(vec![("protected".to_owned(), vec![2])]);
        (name, Program::compile(&*algorithm, tracer).unwrap())
    })
}

#[test]
fn algorithms_come_back_from_their_text() {
    for (name, program) in programs() {
        for (_, program) in program.phases() {
            stages_come_back(name, program);
        }
    }
}

fn stages_come_back(name: &str, program: &Program) {
    comes_back(name, program.staged());
    comes_back(name, program.linked());
    let text = program.exact_tensor_text(program.batch_size()).unwrap();
    let graphs = program.graphs(program.batch_size()).unwrap();
    let read = tensor::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(read.len(), graphs.len());
    for (graph, (_, read)) in graphs.iter().zip(&read) {
        assert_eq!(tensor::difference(graph, read), None, "{name}");
    }
}
