// Makes a copy of the tree to which recipes of CONTRIBUTING.md are applied, and what may be asked
// of it.
import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What git keeps no version of, and the history itself. */
const NOT_COPIED = ['.git', 'node_modules', 'dist', 'runs', 'test-results', 'playwright-report']

/** The copy's own recipes would make a copy of it, and its new texts have no translation yet. */
const LEFT_OUT = ['scripts/recipes/recipes.test.mjs', 'tools/texts/texts.test.mjs']
const NO_TEST = "import { test } from 'vitest'\ntest.todo('runs outside the copy alone')\n"

/** The file and the line of each recipe in a copy of the tree; `destroy` removes it. */
export async function treeWith(recipes) {
  const root = mkdtempSync(join(tmpdir(), 'understory-recipes-'))
  const parts = readdirSync(ROOT).filter((part) => !NOT_COPIED.includes(part))
  for (const part of parts) cpSync(join(ROOT, part), join(root, part), { recursive: true })
  for (const test of LEFT_OUT) writeFileSync(join(root, test), NO_TEST)
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  for (const recipe of recipes) apply(root, recipe)
  // It works beside everything else; most of npm test's time would go to it.
  const errors = process.env.LONG_TESTS ? compilerErrors(root) : undefined
  const server = await createServer({
    root,
    configFile: false,
    logLevel: 'error',
    appType: 'custom',
    server: { middlewareMode: true, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  })
  return {
    /** A module of the copy, by its path in src or from conformance on. */
    load: (path) =>
      server.ssrLoadModule(path.startsWith('conformance/') ? `/${path}` : `/src/${path}`),
    /** What the compiler says about the copy; '' where it has no objection. */
    compilerErrors: () => errors,
    /** What goes wrong in the unit tests of the copy; '' where nothing does. */
    unitTests: () => unitTests(root),
    destroy: async () => {
      await server.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** What a recipe adds behind text that is there: the new file's line in a list with its import, or
 * `edits` of several files. */
const editsOf = ({ file, list, import: imported, after, line, edits = [] }) =>
  file === undefined ? edits : [{ file: list, after, text: line, import: imported }, ...edits]

/** Throws where a file has not the text that an addition follows. */
function apply(root, recipe) {
  if (recipe.file !== undefined) writeFileSync(join(root, recipe.file), recipe.text, { flag: 'wx' })
  for (const { file, after, text, import: imported } of editsOf(recipe)) {
    const path = join(root, file)
    const source = readFileSync(path, 'utf8')
    if (!source.includes(after)) throw new Error(`${file}: expected the text ${after}`)
    const added = source.replace(after, () => `${after}\n${text}`)
    // Behind the comment at the head of the file.
    writeFileSync(path, imported ? added.replace(/^import /m, `${imported}\nimport `) : added)
  }
}

/** The unit tests of `npm test` in the copy, but those that a copy cannot pass. What went wrong; ''
 * where nothing did. */
const unitTests = (root) =>
  new Promise((resolve) => {
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
    const args = [vitest, 'run', '--root', root, '--project', 'unit', '--reporter=dot']
    const env = { ...process.env, NO_COLOR: '1', LONG_TESTS: '' }
    const options = { cwd: root, maxBuffer: 1e8, env }
    execFile(process.execPath, args, options, (error, output, stderr) => {
      resolve(error ? `${output}${stderr}`.slice(-20_000) || error.message : '')
    })
  })

const compilerErrors = (root) =>
  new Promise((resolve) => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    execFile(process.execPath, [tsc, '--noEmit', '-p', root], (error, output, stderr) => {
      resolve(error ? `${output}${stderr}` || error.message : '')
    })
  })
