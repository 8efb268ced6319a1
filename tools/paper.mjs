// npm run paper: writes docs/paper.md and the table that opens docs/studies/README.md. Their texts
// are in tools/paper; every number is read from the tables that `npm run studies` left.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadVite, ROOT } from '../scripts/project.mjs'
import { filled, readStudies, withKnown } from './paper/numbers.mjs'

const { runnerImport } = await loadVite()
const load = (file) => runnerImport(join(ROOT, 'src/document/study/statistics', file))
const modules = await Promise.all(['equivalence.ts', 'student.ts'].map(load))
const statistics = Object.assign({}, ...modules.map(({ module }) => module))

const read = (path) => readFileSync(join(ROOT, path), 'utf8')
const studies = readStudies(join(ROOT, 'docs/studies'), statistics)
writeFileSync(join(ROOT, 'docs/paper.md'), filled(read('tools/paper/paper.md'), studies))
const opening = join(ROOT, 'docs/studies/README.md')
writeFileSync(
  opening,
  withKnown(read('docs/studies/README.md'), filled(read('tools/paper/known.md'), studies)),
)
