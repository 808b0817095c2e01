//! Writes `protocol/src/generated.rs` from `protocol/proto/executor.proto`.
//!
//! Run by hand after the `.proto` has changed, from anywhere, with `protoc` on the path:
//! `cargo run --manifest-path protocol/generate/Cargo.toml`. The result is committed, so that
//! a build needs no `protoc` and a reviewer sees what changed on the wire.

use std::path::Path;

const HEAD: &str = "// Generated from proto/executor.proto by protocol/generate. Do not edit.\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protocol = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let proto = protocol.join("proto");
    let out = std::env::temp_dir().join(format!("berth-protocol-{}", std::process::id()));
    std::fs::create_dir_all(&out)?;
    // Without `build_transport` because its `connect(address)` clashes with the rpc of that name. Output
    // is `Bytes`, so that it moves from the pipe to the wire without a copy; so is a returned value, which is kept until it is answered;
    // maps are those of `domain`, so that they move, too.
    tonic_prost_build::configure()
        .build_transport(false)
        .bytes("OutputChunk.data")
        .bytes("Result.value")
        .btree_map(".")
        .out_dir(&out)
        .compile_protos(&[proto.join("executor.proto")], &[proto])?;
    let code = std::fs::read_to_string(out.join("berth.executor.v1.rs"))?;
    std::fs::write(protocol.join("src/generated.rs"), format!("{HEAD}{code}"))?;
    std::fs::remove_dir_all(&out)?;
    Ok(())
}
