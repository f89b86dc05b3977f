// @ts-check
// The numbers of a figure as plain arrays.

/** @type {Record<string, new (buffer: ArrayBuffer) => ArrayLike<number | bigint>>} */
const TYPES = {
  f8: Float64Array,
  f4: Float32Array,
  i8: BigInt64Array,
  i4: Int32Array,
  i2: Int16Array,
  i1: Int8Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
}

/**
 * Plotly takes arrays also as bytes in base 64.
 * @param {unknown} given
 * @returns {(number | string | null)[]}
 */
export function valuesOf(given) {
  if (given && typeof given === "object" && "bdata" in given) {
    const { bdata, dtype } = /** @type {{ bdata: string, dtype: string }} */ (given)
    const bytes = Uint8Array.from(atob(bdata), (letter) => letter.charCodeAt(0))
    return Array.from(new TYPES[dtype.replace(/^[<|=]/, "")](bytes.buffer), Number)
  }
  return Array.from(/** @type {ArrayLike<number | string | null>} */ (given ?? []))
}

/**
 * A table of numbers, which Plotly also takes as bytes with a shape.
 * @param {unknown} given
 * @returns {(number | string | null)[][]}
 */
export function rowsOf(given) {
  if (Array.isArray(given)) return given
  const width = Number(/** @type {{ shape: string }} */ (given).shape.split(",")[1])
  const all = valuesOf(given)
  return Array.from({ length: all.length / width }, (_, r) => all.slice(r * width, (r + 1) * width))
}
