//! `fedround opt`, and one pass looked at by `fedround graph`.

use crate::support::{Place, stderr};

/// A text on stdin.
fn piped(place: &Place, line: &str, text: &str) -> String {
    let output = place.command(line).write_stdin(text).output().unwrap();
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_graph_prints_opt_reads() {
    let place = Place::new();
    for stage in ["fed", "linked", "tensor"] {
        let text = place.success(&format!(
            "graph fedprox --at {stage} --exact --model logistic"
        ));
        assert_eq!(piped(&place, "opt -", &text), text, "{stage}");
    }
}

#[test]
fn a_text_of_several_phases_is_several_documents() {
    let place = Place::new();
    let text = place.success("graph fedfed --exact");
    assert!(text.matches("// fedround fed v1").count() > 1, "{text}");
    assert_eq!(piped(&place, "opt - --passes dce", &text), text);
    place.write(
        "broken.txt",
        text.replacen("fed.yield", "fed.yiel", 2).as_bytes(),
    );
    let line = text
        .lines()
        .position(|line| line.contains("fed.yield"))
        .unwrap()
        + 1;
    let error = place.failure("opt broken.txt", 1);
    assert!(error.contains(&format!("broken.txt:{line}:")), "{error}");
}

#[test]
fn passes_on_the_text_do_what_the_compiler_does() {
    let place = Place::new();
    let staged = place.success("graph fedprox --at fed --exact --set mu=0");
    place.write("staged.txt", staged.as_bytes());
    let once = "link-hooks,canonicalize,cse,dce";
    let linked = place.success(&format!(
        "opt staged.txt --passes {once},canonicalize,cse,dce"
    ));
    assert_eq!(linked, place.success("graph fedprox --exact --set mu=0"));
    let step = place.success("graph fedavg --at tensor --exact --model logistic");
    let batched = piped(
        &place,
        "opt - --passes batch-clients=3,sink-views,fold,cse,dce",
        &step,
    );
    assert!(batched.contains("f32[3x784x10]"), "{batched}");
}

#[test]
fn the_passes_are_listed() {
    let text = Place::new().success("opt --list");
    for pass in ["fed\n", "link-hooks", "tensor\n", "batch-clients=N", "fuse"] {
        assert!(text.contains(pass), "{pass}: {text}");
    }
}

#[test]
fn a_pass_is_shown_and_compared() {
    let place = Place::new();
    let after = place.success("graph fedprox --pass link-hooks");
    assert!(after.contains("fed.round(%w: params@server)"), "{after}");
    let diff = place.success("graph fedavg --diff canonicalize");
    assert!(
        diff.starts_with("--- before canonicalize\n+++ after canonicalize\n"),
        "{diff}"
    );
    assert!(diff.contains("\n+          opt.yield %17 : f32"), "{diff}");
    let fused = place.success("graph fedavg --model logistic --diff fuse");
    assert!(fused.contains("tensor.matmul_add[-1]"), "{fused}");
}

#[test]
fn passes_are_timed_and_dumped_on_stderr() {
    let place = Place::new();
    let timed = place.output("graph fedavg --timings --model logistic");
    let table = stderr(&timed);
    for step in ["fed link-hooks", "tensor lower", "tensor fuse", "all"] {
        assert!(table.contains(step), "{step}: {table}");
    }
    let mut command = place.command("graph fedavg --model logistic");
    let dumped = command.env("FEDROUND_IR", "link-hooks").output().unwrap();
    let text = stderr(&dumped);
    assert!(
        text.starts_with("// before link-hooks: fedavg\n// fedround fed v1"),
        "{text}"
    );
    assert!(text.contains("// after link-hooks: fedavg\n"), "{text}");
    assert_eq!(dumped.stdout, timed.stdout);
}

#[test]
fn bad_input_is_said_with_a_way_out() {
    let place = Place::new();
    let text = "// fedround tensor v1\ntensor.graph @f(%x: f32[2]) {\n  return y = %z\n}\n";
    place.write("bad.txt", text.as_bytes());
    place.write("later.txt", b"// fedround fed v7\n");
    place.write("cycle.txt", CYCLE.as_bytes());
    let unlinked = CYCLE.replace("%0 = fed.call", "%0 = fed.super");
    place.write("unlinked.txt", unlinked.as_bytes());
    let untyped = CYCLE.replace("(%k, %w) : params", "(%k) : params");
    place.write("untyped.txt", untyped.as_bytes());
    let cases = [
        (
            "opt bad.txt",
            "bad.txt:3:14: value `%z` is not defined here",
        ),
        ("opt bad.txt", "3 |   return y = %z\n    |              ^^"),
        (
            "opt later.txt",
            "version 7 of the fed dialect is newer than this fedround",
        ),
        (
            "opt cycle.txt --passes link-hooks",
            "text:14:5: `client_update` calls itself",
        ),
        (
            "opt cycle.txt --passes cse,lnk-hooks",
            "did you mean `link-hooks`?",
        ),
        (
            "opt cycle.txt --passes fuse",
            "the passes are link-hooks, canonicalize",
        ),
        (
            "opt unlinked.txt --passes link-hooks",
            "text:14:5: a calls its base's `client_update`",
        ),
        (
            "opt untyped.txt",
            "untyped.txt:14:5: fed.call: expected operands (client, params)",
        ),
        ("graph fedavg --diff fuze", "unknown fed pass `fuze`"),
        (
            "graph fedavg --at tensor --diff fuze",
            "did you mean `fuse`?",
        ),
        ("graph fedavg --diff batch-clients", "does not run here"),
    ];
    for (line, part) in cases {
        let error = place.failure(line, 1);
        assert!(error.contains(part), "{line}: expected `{part}` in {error}");
    }
    let mut command = place.command("graph fedavg");
    let output = command.env("FEDROUND_IR", "aftr").output().unwrap();
    assert!(
        stderr(&output).contains("FEDROUND_IR: unknown"),
        "{}",
        stderr(&output)
    );
    place.failure("opt", 2);
}

/// Local training that calls itself.
const CYCLE: &str = "\
// fedround fed v1
fed.algorithm @a() {
  fed.func @a::round(%w: params@server) {
    %0 = fed.all_clients : cohort@server
    %1 = fed.broadcast %w to %0 : {params}@clients
    %2 = fed.map(%k, %3 = %1) {
      %4 = fed.call @client_update(%k, %3) : params
      fed.yield %4 : params
    } : {params}@clients
    %5 = fed.mean %2 : params@server
    fed.yield %5 : params@server
  }
  fed.func @a::client_update(%k: client, %w: params) {
    %0 = fed.call @client_update(%k, %w) : params
    fed.yield %0 : params
  }
}
";

#[test]
fn what_opt_does_not_read_or_run_is_refused_with_the_reason() {
    let place = Place::new();
    let made = |line: &str| {
        let text = place.success(&format!("graph fedprox --model logistic {line}"));
        place.write("text.txt", text.as_bytes());
    };
    made("--at plan");
    let error = place.failure("opt text.txt", 1);
    assert!(error.contains("plans are only printed"), "{error}");
    for stage in ["fed", "linked", "tensor"] {
        made(&format!("--at {stage}"));
        let error = place.failure("opt text.txt", 1);
        assert!(error.contains("`--exact` prints it"), "{stage}: {error}");
    }
    made("--at tensor --exact");
    // As many clients would need more memory than there is.
    let error = place.failure("opt text.txt --passes batch-clients=999999999", 1);
    let expected = "1 to 4096, found `999999999`";
    assert!(error.contains(expected), "{error}");
    made("--at linked --exact");
    let text = place.text("text.txt").replacen("opt.yield", "fed.yield", 1);
    place.write("text.txt", text.as_bytes());
    let error = place.failure("opt text.txt", 1);
    assert!(
        error.contains("`opt.yield`, which ends this region"),
        "{error}"
    );
}
