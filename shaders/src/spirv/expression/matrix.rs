//! Products with matrices. A flattened matrix is its columns, one after the other.

use std::rc::Rc;

use spirv::Op as Spv;

use super::emit::{Emit, Scalars, Typed};
use crate::ir::Value;
use crate::spirv::error::Result;

/// A matrix operand.
pub struct Matrix {
    values: Rc<[Value]>,
    /// Components of a column.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
}

impl Matrix {
    /// Reads an operand.
    pub fn new(e: &Emit<'_>, args: &[Typed], index: usize) -> Result<Matrix> {
        let matrix = e.arg(args, index)?;
        let parts = e.types.parts(matrix.ty).filter(|_| e.types.is_float(matrix.ty));
        let Some((column, columns)) = parts.filter(|&(column, _)| e.types.parts(column).is_some()) else {
            return Err(e.invalid(format!("operand {index} is not a matrix")));
        };
        let rows = e.types.scalars(column) as usize;
        Ok(Matrix { values: matrix.values.clone(), rows, columns: columns as usize })
    }

    /// An element.
    pub fn at(&self, row: usize, column: usize) -> Value {
        self.values[column * self.rows + row]
    }

    fn row(&self, row: usize) -> Vec<Value> {
        (0..self.columns).map(|column| self.at(row, column)).collect()
    }

    fn column(&self, column: usize) -> &[Value] {
        &self.values[column * self.rows..][..self.rows]
    }
}

/// Translates products with matrices and scalars; `None` for every other instruction.
pub fn matrix(e: &mut Emit<'_>, op: Spv, args: &[Typed]) -> Result<Option<Scalars>> {
    Ok(Some(match op {
        Spv::VectorTimesScalar | Spv::MatrixTimesScalar => {
            let (values, factor) = (e.words(args, 0)?, e.scalar(args, 1)?);
            values.iter().map(|&value| e.b.fmul(value, factor)).collect()
        }
        Spv::MatrixTimesVector => {
            let (matrix, vector) = (Matrix::new(e, args, 0)?, e.words(args, 1)?);
            same(e, matrix.columns, vector.len())?;
            (0..matrix.rows).map(|row| e.dot(&matrix.row(row), &vector)).collect()
        }
        Spv::VectorTimesMatrix => {
            let (vector, matrix) = (e.words(args, 0)?, Matrix::new(e, args, 1)?);
            same(e, matrix.rows, vector.len())?;
            (0..matrix.columns).map(|column| e.dot(&vector, matrix.column(column))).collect()
        }
        Spv::MatrixTimesMatrix => {
            let (a, b) = (Matrix::new(e, args, 0)?, Matrix::new(e, args, 1)?);
            same(e, a.columns, b.rows)?;
            let mut values = Vec::with_capacity(a.rows * b.columns);
            for column in 0..b.columns {
                values.extend((0..a.rows).map(|row| e.dot(&a.row(row), b.column(column))));
            }
            values
        }
        Spv::OuterProduct => {
            let (a, b) = (e.words(args, 0)?, e.words(args, 1)?);
            let products = b.iter().flat_map(|&y| a.iter().map(move |&x| (x, y)));
            products.map(|(x, y)| e.b.fmul(x, y)).collect()
        }
        _ => return Ok(None),
    }))
}

fn same(e: &Emit<'_>, a: usize, b: usize) -> Result<()> {
    if a == b { Ok(()) } else { Err(e.invalid("matrix and operand differ in size")) }
}

/// Determinant of a square matrix of 2 to 4 columns.
pub fn determinant(e: &mut Emit<'_>, args: &[Typed]) -> Result<Value> {
    let matrix = Matrix::new(e, args, 0)?;
    same(e, matrix.rows, matrix.columns)?;
    let all: Vec<usize> = (0..matrix.rows).collect();
    Ok(minor(e, &matrix, &all, &all))
}

/// Inverse of a square matrix of 2 to 4 columns: cofactors over the determinant.
pub fn inverse(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let matrix = Matrix::new(e, args, 0)?;
    same(e, matrix.rows, matrix.columns)?;
    let size = matrix.rows;
    let without = |index: usize| -> Vec<usize> { (0..size).filter(|&i| i != index).collect() };
    let mut cofactors = Vec::with_capacity(size * size);
    for column in 0..size {
        for row in 0..size {
            // The inverse is the transposed matrix of cofactors.
            let value = minor(e, &matrix, &without(column), &without(row));
            cofactors.push(if (row + column) % 2 == 0 { value } else { e.b.fneg(value) });
        }
    }
    // Row 0 of the matrix times its cofactors, which stand in row order of the inverse's first column.
    let first_row = matrix.row(0);
    let determinant = e.dot(&first_row, &cofactors[..size]);
    let one = e.b.float(1.0);
    let scale = e.b.fdiv(one, determinant);
    Ok(cofactors.into_iter().map(|value| e.b.fmul(value, scale)).collect())
}

/// Determinant of the elements in some rows and columns, developed along the first row.
fn minor(e: &mut Emit<'_>, matrix: &Matrix, rows: &[usize], columns: &[usize]) -> Value {
    let Some((&row, rest)) = rows.split_first() else {
        return e.b.float(1.0);
    };
    if rest.is_empty() {
        return matrix.at(row, columns[0]);
    }
    let mut sum = None;
    for (at, &column) in columns.iter().enumerate() {
        let others: Vec<usize> = columns.iter().copied().filter(|&other| other != column).collect();
        let inner = minor(e, matrix, rest, &others);
        let product = e.b.fmul(matrix.at(row, column), inner);
        sum = Some(match sum {
            None => product,
            Some(sum) if at % 2 == 0 => e.b.fadd(sum, product),
            Some(sum) => e.b.fsub(sum, product),
        });
    }
    sum.unwrap_or_else(|| e.b.float(0.0))
}
