// npm run forecast: asks of the committed runs whether entropies of inner layers at half time say
// more of a run's end than the final policy's, and writes docs/studies/forecast/report.md. What is
// predicted, from what, by which model and on which split was committed before it was first run.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../scripts/project.mjs'
import { FEATURES, forecast, forecastReport, rowsOf } from './forecast_model.mjs'

const studies = join(ROOT, 'docs/studies')
const linesOf = (name) => {
  try {
    return readFileSync(join(studies, name, 'results.jsonl'), 'utf8')
      .trim()
      .split('\n')
  } catch {
    return []
  }
}
const found = readdirSync(studies)
  .map((name) => ({ name, rows: rowsOf(linesOf(name).map((line) => JSON.parse(line))) }))
  .filter(({ rows }) => rows.length >= 40)
  .map(({ name, rows }) => ({ name, ...forecast(rows) }))
mkdirSync(join(studies, 'forecast'), { recursive: true })
writeFileSync(join(studies, 'forecast/report.md'), forecastReport(found, Object.keys(FEATURES)))
