// Reads golden files strictly: what is missing, misshapen or not understood is said, never passed
// over.

/** A golden case that cannot be run as it is; the message is a sentence about the case. */
export class CaseError extends Error {
  override readonly name = 'CaseError'
}

/** A row-major array of a fixture. */
export interface GoldenTensor {
  readonly shape: readonly number[]
  readonly data: Float64Array
}

/** Two-dimensional ones, [rows, columns]. */
export interface GoldenMatrix {
  readonly rows: number
  readonly columns: number
  readonly data: Float64Array
}

/** One record of a fixture (`inputs`, `config`), read by name. It remembers what was read, so that
 * a field nobody asked for is an error and not silently without effect. null stands for an argument
 * that was not given. Every reader throws CaseError naming the field. */
export class Fields {
  readonly where: string
  readonly #values: Readonly<Record<string, unknown>>
  readonly #read = new Set<string>()
  readonly #nested: Fields[] = []

  constructor(values: unknown, where: string) {
    if (typeof values !== 'object' || values === null || Array.isArray(values))
      throw new CaseError(`${where}: expected a record, got ${JSON.stringify(values) ?? 'nothing'}`)
    this.#values = values as Record<string, unknown>
    this.where = where
  }

  names(): string[] {
    return Object.keys(this.#values)
  }

  /** Whether the field is there and not null. */
  has(name: string): boolean {
    return Object.hasOwn(this.#values, name) && this.#values[name] !== null
  }

  /** The value as it is; undefined where it is absent or null. */
  raw(name: string): unknown {
    this.#read.add(name)
    return this.has(name) ? this.#values[name] : undefined
  }

  /** Names of fields that change nothing here; each call site says why. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#read.add(name)
  }

  /** Rows of different lengths. */
  ragged(name: string): number[][] {
    const value = this.raw(name)
    const isRow = (row: unknown) => Array.isArray(row) && row.every(Number.isFinite)
    if (!Array.isArray(value) || !value.every(isRow))
      this.#refuse(name, 'a list of lists of numbers', value)
    return value
  }

  number(name: string, fallback?: number): number {
    const value = this.raw(name) ?? fallback
    if (typeof value !== 'number' || !Number.isFinite(value)) this.#refuse(name, 'a number', value)
    return value as number
  }

  optionalNumber(name: string): number | undefined {
    return this.has(name) ? this.number(name) : void this.raw(name)
  }

  /** 0 and 1 stand for false and true in the fixtures. */
  flag(name: string, fallback?: boolean): boolean {
    const value = this.raw(name) ?? fallback
    if (value !== true && value !== false && value !== 0 && value !== 1)
      this.#refuse(name, '0 or 1', value)
    return Boolean(value)
  }

  /** One of `options`. */
  choice<const T extends string>(name: string, options: readonly T[], fallback?: T): T {
    const value = this.raw(name) ?? fallback
    if (!options.includes(value as T)) this.#refuse(name, `one of ${options.join(', ')}`, value)
    return value as T
  }

  /** A text, or undefined where it is absent. */
  optionalText(name: string): string | undefined {
    const value = this.raw(name)
    if (value !== undefined && typeof value !== 'string') this.#refuse(name, 'a text', value)
    return value as string | undefined
  }

  texts(name: string): string[] {
    const value = this.raw(name)
    if (!Array.isArray(value) || value.some((x) => typeof x !== 'string'))
      this.#refuse(name, 'a list of texts', value)
    return value as string[]
  }

  /** A number per name. */
  record(name: string): Record<string, number> {
    const inner = this.fields(name)
    return Object.fromEntries(inner.names().map((key) => [key, inner.number(key)]))
  }

  /** A nested record, held to the same rules. */
  fields(name: string): Fields {
    const nested = new Fields(this.raw(name), `${this.where}.${name}`)
    this.#nested.push(nested)
    return nested
  }

  /** A list of records. */
  list(name: string): Fields[] {
    const value = this.raw(name)
    if (!Array.isArray(value)) this.#refuse(name, 'a list of records', value)
    const items = (value as unknown[]).map((x, i) => new Fields(x, `${this.where}.${name}[${i}]`))
    this.#nested.push(...items)
    return items
  }

  vector(name: string, length?: number): Float64Array {
    return this.tensor(name, length === undefined ? [undefined] : [length]).data
  }

  /** [rows, columns]; `like` gives the shape it must have. */
  matrix(name: string, like?: Pick<GoldenMatrix, 'rows' | 'columns'>): GoldenMatrix {
    const { shape, data } = this.tensor(
      name,
      like ? [like.rows, like.columns] : [undefined, undefined],
    )
    return { rows: shape[0], columns: shape[1], data }
  }

  optionalMatrix(
    name: string,
    like: Pick<GoldenMatrix, 'rows' | 'columns'>,
  ): GoldenMatrix | undefined {
    return this.has(name) ? this.matrix(name, like) : void this.raw(name)
  }

  /** A rectangular array of numbers; `dims` are its extents, undefined where any will do; absent =
   * any rank. */
  tensor(name: string, dims?: readonly (number | undefined)[]): GoldenTensor {
    const value = this.raw(name)
    const shape = shapeOf(value)
    const data: number[] = []
    const fits =
      shape &&
      (!dims ||
        (dims.length === shape.length && dims.every((d, i) => (d ?? shape[i]) === shape[i])))
    const wanted = dims ? `an array [${dims.map((d) => d ?? '?')}]` : 'an array'
    if (!shape || !fits || !collect(value, shape, data))
      this.#refuse(name, `${wanted} of numbers`, shape ? `array [${shape}]` : value)
    return { shape: shape as number[], data: Float64Array.from(data) }
  }

  /** Fields that were never read and are not null, nested ones included. */
  unused(): string[] {
    const own = Object.keys(this.#values)
      .filter((name) => this.has(name) && !this.#read.has(name))
      .map((name) => `${this.where}.${name}`)
    return [...own, ...this.#nested.flatMap((nested) => nested.unused())]
  }

  #refuse(name: string, expected: string, value: unknown): never {
    const text = value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 60)
    throw new CaseError(`${this.where}.${name}: expected ${expected}, got ${text}`)
  }
}

/** Extents along the first elements; undefined for what is no list. */
function shapeOf(value: unknown): number[] | undefined {
  if (!Array.isArray(value)) return undefined
  return [value.length, ...(shapeOf(value[0]) ?? [])]
}

/** Appends the numbers of `value`; false when it is not a rectangle of numbers of this shape. */
function collect(value: unknown, shape: readonly number[], out: number[]): boolean {
  if (shape.length === 0) {
    out.push(value as number)
    return typeof value === 'number' && Number.isFinite(value)
  }
  const [length, ...rest] = shape
  return (
    Array.isArray(value) && value.length === length && value.every((x) => collect(x, rest, out))
  )
}
