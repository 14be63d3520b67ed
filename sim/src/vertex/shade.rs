//! Shading vertices: attribute DMA into the VPM and batches of 16 through a program (v3d.md §2, §7).

use vc4::cl::records::{Attribute, ShaderRecord};
use vc4::facts::AttributeTail;
use vc4::hw::LANES;
use vc4::qpu::Stage;

use super::shader::Shader;
use super::vpm::{ROWS, VertexPorts};
use crate::error::JobError;
use crate::memory::{BusError, Memory};
use crate::qpu::{Fault, Payload, Qpu};
use crate::stats::Stats;

/// One array as a program's VPM window sees it.
struct Load<'a> {
    array: &'a Attribute,
    row: usize,
}

/// The arrays that `stage` loads, checked against the window.
fn loads(record: &ShaderRecord, stage: Stage) -> Result<Vec<Load<'_>>, String> {
    let coordinate = stage == Stage::Coordinate;
    let select = if coordinate { &record.coordinate } else { &record.vertex }.attribute_select;
    let mut loads = Vec::new();
    for (n, array) in record.attributes.iter().enumerate() {
        if select >> n & 1 == 0 {
            continue;
        }
        let offset = if coordinate { array.coordinate_offset } else { array.vertex_offset };
        let words = usize::from(array.bytes).div_ceil(4);
        if offset % 4 != 0 || usize::from(offset) / 4 + words > ROWS {
            return Err(format!(
                "attribute {n}: {words} words at VPM byte {offset} do not lie in whole rows of the window"
            ));
        }
        loads.push(Load { array, row: usize::from(offset) / 4 });
    }
    Ok(loads)
}

/// Shades the vertices with these indices on a QPU and returns the first `rows` output words of each.
pub fn shade(
    memory: &Memory,
    shader: &Shader,
    record: &ShaderRecord,
    indices: &[u32],
    rows: usize,
    qpu: &mut Qpu,
    stats: &mut Stats,
) -> Result<Vec<u32>, JobError> {
    let loads = loads(record, shader.stage).map_err(|what| shader.fault(Fault::port(what)))?;
    let mut out = vec![0; indices.len() * rows];
    let mut ports = VertexPorts::of(shader.stage);
    let facts = shader.program.behaviour();
    qpu.cool_down();
    for (batch, results) in indices.chunks(LANES).zip(out.chunks_mut(LANES * rows)) {
        fetch(memory, facts.attribute_tail, &loads, batch, &mut ports)
            .map_err(JobError::bus("vertex attribute"))?;
        ports.restart();
        qpu.run(&shader.program, memory, shader.uniforms, &mut ports, &Payload::default(), stats)
            .map_err(|fault| shader.stopped(fault, qpu))?;
        if let Some(rule) = ports.left_over() {
            shader.broke_at_end(rule, qpu, stats);
        }
        for (lane, result) in results.chunks_mut(rows).enumerate() {
            for (word, row) in result.iter_mut().zip(ports.output.iter()) {
                *word = row[lane];
            }
        }
    }
    Ok(out)
}

/// The vertex DMA: element n of each row belongs to vertex n of the batch; sizes are rounded up to words.
fn fetch(
    memory: &Memory,
    fact: AttributeTail,
    loads: &[Load],
    batch: &[u32],
    ports: &mut VertexPorts,
) -> Result<(), BusError> {
    for Load { array, row } in loads {
        for (lane, &index) in batch.iter().enumerate() {
            let base = array.address.wrapping_add(array.stride.wrapping_mul(index));
            for word in 0..u32::from(array.bytes).div_ceil(4) {
                let left = u32::from(array.bytes) - word * 4;
                let at = base.wrapping_add(word * 4);
                ports.input[row + word as usize][lane] = if left >= 4 || fact == AttributeTail::Memory {
                    memory.read_u32_unaligned(at)?
                } else {
                    tail(memory, at, left)?
                };
            }
        }
    }
    Ok(())
}

/// UNVERIFIED: what fills the last word of an attribute whose size is no multiple of four? Zero here.
fn tail(memory: &Memory, at: u32, bytes: u32) -> Result<u32, BusError> {
    let mut word = [0; 4];
    memory.read_bytes(at, &mut word[..bytes as usize])?;
    Ok(u32::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::PAGE_BYTES;

    #[test]
    fn attributes_land_in_their_rows() {
        let memory = Memory::new(4 * PAGE_BYTES);
        let base = memory.allocate(PAGE_BYTES).unwrap();
        memory.write_bytes(base, &(0..64).collect::<Vec<u8>>()).unwrap();
        let wide =
            Attribute { address: base + 1, bytes: 7, stride: 8, vertex_offset: 4, coordinate_offset: 0xff };
        let fixed =
            Attribute { address: base + 16, bytes: 4, stride: 0, vertex_offset: 0, coordinate_offset: 0 };
        let mut record = ShaderRecord { attributes: vec![wide, fixed], ..ShaderRecord::default() };
        record.vertex.attribute_select = 3;
        record.coordinate.attribute_select = 2;
        let mut ports = VertexPorts::default();
        fetch(&memory, AttributeTail::Zero, &loads(&record, Stage::Vertex).unwrap(), &[0, 2], &mut ports)
            .unwrap();
        assert_eq!(ports.input[0][..2], [0x1312_1110; 2]);
        assert_eq!(ports.input[1][..2], [0x0403_0201, 0x1413_1211]);
        assert_eq!(ports.input[2][..2], [0x0007_0605, 0x0017_1615]);
        assert_eq!(loads(&record, Stage::Coordinate).unwrap().len(), 1);
    }

    #[test]
    fn arrays_outside_of_the_window_are_named() {
        let mut record = ShaderRecord::default();
        record.vertex.attribute_select = 1;
        record.attributes = vec![Attribute { bytes: 16, vertex_offset: 252, ..Attribute::default() }];
        assert!(loads(&record, Stage::Vertex).is_err_and(|what| what.contains("attribute 0")));
    }
}
