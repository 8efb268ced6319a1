// npm run gpu-report: shows what a real GPU's compiler makes of the kernels, with no GPU. Prints a
// table and what falls short of the bars; `-- --write` keeps the table in docs/log/gpu.md. Needs
// Mesa's driver for AMD (tools/gpu_report/driver.mjs) and gcc. `-- --text NAME` prints all that a
// compiler is given of one kernel, and needs nothing.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installMissing, ROOT } from '../scripts/project.mjs'
import { findDriver } from './gpu_report/driver.mjs'
import { measure, shortfalls, tableOf, textOf } from './gpu_report/report.mjs'

const KEPT = join(ROOT, 'docs/log/gpu.md')
/** The kept table lies between these. */
const TABLE = /(<!-- table -->\n)[\s\S]*(<!-- end -->)/

const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    text: { type: 'string' },
  },
})
if (values.text !== undefined) {
  await installMissing()
  try {
    console.log(await textOf(values.text))
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
  process.exit(0)
}
const driver = findDriver()
if (driver.path === undefined) {
  console.log(`gpu-report says nothing here: ${driver.reason}.`)
  process.exit(0)
}
await installMissing()
const judged = await measure(driver)
const table = tableOf(judged)
console.log(table)
const short = shortfalls(judged)
console.log(
  short.length ? `Short of the bars:\n${short.join('\n')}` : 'Nothing falls short of the bars.',
)
if (values.write) {
  const text = readFileSync(KEPT, 'utf8')
  writeFileSync(
    KEPT,
    text.replace(TABLE, (_, start, end) => `${start}\n${table}\n${end}`),
  )
}
process.exitCode = short.length ? 1 : 0
