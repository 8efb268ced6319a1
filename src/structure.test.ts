// Keeps the house readable: imports inside a folder point one way, without circles, files and
// functions stay short, functions take few arguments, and literals are written plainly.
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { type ESTree, parseSync, Visitor } from 'vite'
import { expect, test } from 'vitest'
import { type Part, readNames, snakesIn } from './testing.ts'

/** Folders inside a folder, in the order of imports: each may import from itself and from those
 * before it. '.' are its own files, '*' all that are not named. */
const [, orders] = /^```order\n([\s\S]*?)^```/m.exec(readFileSync('ARCHITECTURE.md', 'utf8')) ?? []
const ORDER = new Map(
  (orders ?? '')
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/))
    .map(([home, ...order]) => [home, order]),
)
const MOST_LINES = 300
const MOST_LINES_OF_FUNCTION = 60
const MOST_ARGUMENTS = 5
const MOST_FILES = 15

/** Catalogues: one long list of data each, which a cut would make harder to read. */
const CATALOGUES: readonly string[] = ['src/jobs/settings/settings.ts', 'src/ui/glossary/terms.ts']
/** Folders whose files are a list of things of one kind. */
const COLLECTIONS: readonly string[] = [
  'conformance',
  'conformance/hf',
  'src/document/experiment/fields',
  'src/rl/config',
  'src/rl/estimators',
  'src/rl/losses',
  'src/rl/preferences/losses',
  'src/tasks/rewards',
  'src/tasks/tasks',
  'src/ui/lessons/texts',
]

const files = ['src', 'conformance', 'tools'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join(folder, file))
    .filter((file) => /\.tsx?$/.test(file)),
)
const others = ['e2e', 'scripts', 'tools', 'bench'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join(folder, file))
    .filter((file) => /\.(tsx?|mjs)$/.test(file)),
)
const isProduct = (file: string) => !/\.(test|ref|setup)\.tsx?$|\/testing\.ts$/.test(file)
const product = files.filter(isProduct)
const sourceOf = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))

/** Imports as statements, and files that are loaded later: `import('…')`, `new Worker(new
 * URL('…'))`. */
const IMPORT = /^(?:import|export)\s[^'"]*?from\s+'(\.[^'?]+)/gm
const LOADED = /(?:\bimport\(|\bnew URL\()\s*'(\.[^'?]+)/g
const importsOf = (...patterns: readonly RegExp[]) =>
  new Map(
    product.map((file) => [
      file,
      patterns.flatMap((pattern) =>
        [...(sourceOf.get(file) ?? '').matchAll(pattern)].map(([, to]) =>
          posix.join(posix.dirname(file), to),
        ),
      ),
    ]),
  )
const imports = importsOf(IMPORT, LOADED)

/** Files from which a way of imports leads back to themselves, types included. */
function circular(): string[] {
  const reached = (from: string) => {
    const seen = new Set<string>()
    const open = [...(imports.get(from) ?? [])]
    for (let file = open.pop(); file; file = open.pop()) {
      if (seen.has(file)) continue
      seen.add(file)
      open.push(...(imports.get(file) ?? []))
    }
    return seen
  }
  return product.filter((file) => reached(file).has(file))
}

test('no file imports itself over others', () => {
  expect(circular()).toEqual([])
})

/** Where a product file lies: a folder that has an order, and the folder in it; '.' for a file that
 * lies in it directly. */
function placeOf(file: string): readonly [home: string, folder: string] {
  const path = file.replace(/^src\//, '').split('/')
  return [path[0], path.length > 2 ? path[1] : '.']
}

test('inside a folder imports point to folders further left', () => {
  const up: string[] = []
  for (const [file, targets] of imports) {
    const [home, folder] = placeOf(file)
    const order = ORDER.get(home)
    if (!order) continue
    const rank = (name: string) => order.indexOf(order.includes(name) ? name : '*')
    for (const target of targets) {
      const [other, to] = placeOf(target)
      if (other === home && rank(to) > rank(folder)) up.push(`${file} → ${target}`)
    }
  }
  expect(up).toEqual([])
})

test('the order names every folder that holds folders, each of these, and no others', () => {
  const found = new Map<string, Set<string>>()
  for (const file of product) {
    const [home, folder] = placeOf(file)
    if (home !== 'tools') found.set(home, (found.get(home) ?? new Set()).add(folder))
  }
  const homes = [...found].filter(([, folders]) => folders.size > 1)
  expect([...ORDER.keys()].sort()).toEqual(homes.map(([home]) => home).sort())
  for (const [home, order] of ORDER) {
    const folders = [...(found.get(home) ?? [])]
    const named = order.filter((name) => name !== '*')
    expect(
      named.filter((name) => !folders.includes(name)),
      home,
    ).toEqual([])
    if (!order.includes('*')) expect([...folders].sort(), home).toEqual([...order].sort())
  }
})

test('a folder holds about fifteen product files, but for collections', () => {
  const counts = new Map<string, number>()
  for (const file of product)
    counts.set(posix.dirname(file), (counts.get(posix.dirname(file)) ?? 0) + 1)
  const full = [...counts].filter(([, count]) => count > MOST_FILES).map(([folder]) => folder)
  expect(full.filter((folder) => !COLLECTIONS.includes(folder))).toEqual([])
})

test('WGSL leaves params and bindings to the declaration of its kernel', () => {
  const shaders = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join('src', file))
    .filter((file) => file.endsWith('.wgsl'))
  const twice = [...shaders, ...product].filter(
    (file) =>
      file !== 'src/kernels/device/base/kernel.ts' &&
      /@group\b|struct\s+Params\b/.test(sourceOf.get(file) ?? readFileSync(file, 'utf8')),
  )
  const advice =
    "delete struct Params and the @group lines: they are written from defineKernel's params and bindings. Types that are not f32 stand there, such as { x: 'read', ids: 'read u32' }"
  expect(twice, advice).toEqual([])
})

test('comments end within 100 columns, but for addresses and what Biome is told', () => {
  const folders = ['src', 'conformance', 'tools', 'e2e', 'scripts', 'bench']
  const written = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((file) => posix.join(folder, file))
      .filter((file) => /\.(tsx?|mjs|wgsl)$/.test(file)),
  )
  const isLong = (line: string) =>
    line.length > 100 && /^\s*(\/\/|\/?\*)/.test(line) && !/https?:\/\/|biome-ignore/.test(line)
  const long = written.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, i) => (isLong(line) ? [`${file}:${i + 1}`] : [])),
  )
  expect(long).toEqual([])
})

test('a file that is no test begins with a sentence whose first word is what it does', () => {
  const SAYS = /^(#!.*\n)?(\/\/|\/\*\*) ((lab|npm|node)\b.*?: [a-z]+s|[A-Z][a-z]+s),? /
  const untold = [...new Set([...files, ...others])].filter(
    (file) => !/\.(test|spec)\./.test(file) && !SAYS.test(readFileSync(file, 'utf8')),
  )
  const advice =
    'begin the file with what it does, as in "// Draws â¦" or "// Reads â¦"; a command may come first: "// lab train: runs â¦"'
  expect(untold, advice).toEqual([])
})

/** The lines that a reader reads: not those that are blank, or only close a bracket or an
 * element. */
const linesOf = (text: string) =>
  text.split('\n').filter((line) => !/^(<\/[\w.]*>|[\])}>;,/\s])*$/.test(line)).length

/** What the text of a file breaks of the rules of style. */
function readStyle(file: string, text: string) {
  const { program, comments } = parseSync(file, text)
  const uncounted: Part[] = [...comments]
  const functions: ESTree.Node[] = []
  const spreads: Part[] = []
  const many: Part[] = []
  const snakes: Part[] = []
  const name = (node: { readonly id?: ESTree.BindingIdentifier | null }) => {
    if (node.id?.name.includes('_') && !/^[A-Z0-9_]+$/.test(node.id.name)) snakes.push(node.id)
  }
  const declare = (part: Part) => void uncounted.push(part)
  const spread = (node: ESTree.SpreadElement) => {
    if (/^(Array|Object)Expression$/.test(node.argument.type)) spreads.push(node)
  }
  const enter = (node: ESTree.Function | ESTree.ArrowFunctionExpression) => {
    if (node.body) functions.push(node.body)
    if (node.params.length > MOST_ARGUMENTS) many.push(node)
  }
  new Visitor({
    ImportDeclaration: declare,
    TSTypeAliasDeclaration(node) {
      declare(node)
      name(node)
    },
    TSInterfaceDeclaration(node) {
      declare(node)
      name(node)
    },
    ClassDeclaration: name,
    ArrowFunctionExpression: enter,
    FunctionDeclaration(node) {
      enter(node)
      name(node)
    },
    FunctionExpression: enter,
    SpreadElement: spread,
  }).visit(program)
  const chars = [...text.split('')]
  for (const { start, end } of uncounted)
    for (let i = start; i < end; i++) if (chars[i] !== '\n') chars[i] = ' '
  const counted = ({ start, end }: Part) => linesOf(chars.slice(start, end).join(''))
  const at = ({ start }: Part) => `${file}:${text.slice(0, start).split('\n').length}`
  return {
    lines: counted({ start: 0, end: text.length }),
    // The brackets of a body are not lines of its own.
    long: functions
      .filter(({ type, start, end }) =>
        type === 'BlockStatement'
          ? counted({ start: start + 1, end: end - 1 }) > MOST_LINES_OF_FUNCTION
          : counted({ start, end }) > MOST_LINES_OF_FUNCTION,
      )
      .map(at),
    spreads: spreads.map(at),
    many: many.map(at),
    snakes: snakes.map(at),
    names: readNames(program),
    at,
  }
}

const styles = new Map(
  [...new Set([...files, ...others])].map((file) => [
    file,
    readStyle(file, sourceOf.get(file) ?? readFileSync(file, 'utf8')),
  ]),
)
const inAll = (what: 'long' | 'spreads' | 'many' | 'snakes', of = (_: string) => true) =>
  [...styles].flatMap(([file, style]) => (of(file) ? style[what] : []))

test('a file has at most 300 lines that are read, tests too and catalogues apart', () => {
  const long = [...styles].filter(([, { lines }]) => lines > MOST_LINES).map(([file]) => file)
  expect(long).toEqual(CATALOGUES)
})

test('a function has at most 60 lines that are read', () => {
  // The callback of `describe` is a list of tests, not a function that one reads as a whole.
  expect(inAll('long', (file) => !/\.(test|spec)\.tsx?$/.test(file))).toEqual([])
})

test('a literal is not spread into a literal or a call: its parts are written in their place', () => {
  expect(inAll('spreads')).toEqual([])
})

test('a function of the product takes at most five arguments by position', () => {
  const inProduct = new Set(product)
  expect(inAll('many', (file) => inProduct.has(file))).toEqual([])
})

test('declared functions, classes and types have names in camelCase or PascalCase', () => {
  const inProduct = new Set(product)
  expect(inAll('snakes', (file) => inProduct.has(file))).toEqual([])
  const text =
    'function a_b() {}\nclass A_b {}\ntype a_b = 1\ninterface A_B_c {}\nfunction aB() {}\n'
  expect(readStyle('a.ts', text).snakes).toEqual(['a.ts:1', 'a.ts:2', 'a.ts:3', 'a.ts:4'])
})

/** Folders and files whose types are written into files or sent to another thread, so that their
 * fields have underscores like those of an experiment. */
const CARRIED: readonly string[] = [
  // What `npm run bench` and `lab train` leave, what the browser keeps, and the messages between
  // page and workers.
  'bench/',
  'src/cli/output/',
  'src/record/',
  'src/page/study/study_storage.ts',
  'src/host/protocol/',
  'src/page/connection/',
  // What is posted as it is made: times of dispatches, pairs to judge, rows and their lengths.
  'src/kernels/device/timing/',
  'src/rl/reward/preferences.ts',
  'src/tasks/data/',
  'src/tasks/task/program_facts.ts',
  // Pyodide's list of its packages.
  'src/host/sandbox/modules/modules.ts',
  // Tensors of weights and of steering files; columns of Parquet; files of Hugging Face.
  'src/model/layout/params.ts',
  'src/model/interventions/steering.ts',
  'src/jobs/rows/truth_schema.ts',
  'src/tasks/tokenizers/hugging_face/',
]
/** d_x: the gradient of x, as the bindings of the kernels have it. */
const isGradient = (name: string) => name.startsWith('d_')

/** Words that are written: in shaders, data, programs for other systems, and texts of code. */
const writtenWords = () =>
  new Set(
    ['src', 'conformance', 'bench', 'public'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.(wgsl|json|py)$/.test(file))
        .flatMap((file) => snakesIn(readFileSync(posix.join(folder, file), 'utf8'))),
    ),
  )

type Named = Pick<ReturnType<typeof readStyle>, 'names' | 'at'>

/** Names with underscores that are none of a field, shader or list, with their places. */
function wrongNames(read: ReadonlyMap<string, Named>, written: ReadonlySet<string>): string[] {
  const all = (pick: (named: Named) => Iterable<string>) =>
    new Set([...read.values()].flatMap((named) => [...pick(named)]))
  const listed = all(({ names }) => [...names.given, ...names.listed])
  const known = new Set([...written, ...all(({ names }) => names.texts)])
  for (const [file, { names }] of read)
    if (CARRIED.some((place) => file.startsWith(place)))
      for (const [name] of names.members) known.add(name)
  return [...read].flatMap(([file, { names, at }]) => {
    const find = (of: ReadonlyMap<string, Part>, isRight: (name: string) => boolean) =>
      [...of].flatMap(([name, part]) => (isRight(name) ? [] : [`${at(part)} ${name}`]))
    return [
      ...find(names.variables, (name) => names.given.has(name) || isGradient(name)),
      // What a recipe adds is in no list yet.
      ...(file.startsWith('scripts/recipes/')
        ? []
        : find(names.entries, (name) => listed.has(name) || names.texts.has(name))),
      ...(isProduct(file) ? find(names.members, (n) => known.has(n) || isGradient(n)) : []),
      ...find(names.hidden, () => false),
    ]
  })
}

test('names have underscores only where a field, a shader or a list has that name', () => {
  expect(wrongNames(styles, writtenWords())).toEqual([])
  const read = (texts: Readonly<Record<string, string>>) =>
    new Map(Object.entries(texts).map(([file, text]) => [file, readStyle(file, text)]))
  const right = `const a_b = kernel('a_b')
const list = { c_d }
function f({ e_f }, { [e_f]: g }, d_x) {
  const { h_i = 1 } = g
  const j_k = e_f
  return { h_i, j_k, B_C }
}
interface Row { readonly a_b: number; readonly l_m: { n_o: 1 }; d_y: 2 }
`
  const carried = 'interface Sent { p_q: 1 }'
  const user = 'interface Shown { p_q: 1 }\nconst c_d = 1\n'
  const other = { 'src/host/protocol/s.ts': carried, 'src/u.ts': user }
  expect(wrongNames(read({ 'src/r.ts': right, ...other }), new Set(['l_m', 'n_o']))).toEqual([])
  const wrong = `const a_b = 1
function f(c_d, [e_f], { g: h_i }) {
  const j_k = c_d
}
class C { l_m = 1; #n_o = 2 }
type T = (p_q: 1) => { r_s: 2 }
const view = <Row is_open />
`
  const found = wrongNames(read({ 'src/w.tsx': wrong }), new Set()).join()
  for (const name of ['a_b', 'c_d', 'e_f', 'h_i', 'j_k', 'l_m', 'n_o', 'p_q', 'r_s', 'is_open'])
    expect(found).toContain(` ${name}`)
})

test('a sixth argument by position is found in functions, methods and constructors', () => {
  const text = (params: string) => `function f(${params}) {}
const g = (${params}) => 1
class C {
  constructor(${params}) {}
  m(${params}) {}
}
`
  expect(readStyle('a.ts', text('a, b, c, d, { e, f, g }')).many).toEqual([])
  const places = ['a.ts:1', 'a.ts:2', 'a.ts:4', 'a.ts:5']
  expect(readStyle('a.ts', text('a, [b], c = 1, d?, e, f')).many).toEqual(places)
})

test('imports, types, comments, blank lines and closing brackets do not count as lines', () => {
  const lines = (count: number) => '  f(1)\n'.repeat(count)
  const text = (count: number) => `import { f } from './f.ts'

/** A type
 * of two lines. */
interface Uncounted {
  readonly a: number
}
export function g() {
  // A comment.
  type Own =
    | Uncounted
${lines(count)}
}
const a = [1, ...[2], ...rest]
const b = { ...{ c: 1 }, ...(d && { e: 1 }) }
`
  expect(readStyle('a.ts', text(60))).toMatchObject({
    lines: 63,
    long: [],
    spreads: ['a.ts:74', 'a.ts:75'],
    many: [],
    snakes: [],
  })
  expect(readStyle('a.ts', text(61)).long).toEqual(['a.ts:8'])
})
