import { test } from 'vitest'
import { experimentFields, parseExperiment, taskOf } from './experiment.ts'
import { encodeLink } from './link.ts'
import { PRESETS } from './presets.ts'

test('perf', () => {
  const time = (name: string, f: () => void) => {
    f()
    const t = performance.now()
    for (let i = 0; i < 50; i++) f()
    console.log(name, (performance.now() - t) / 50)
  }
  const e = PRESETS[0].experiment
  time('parse', () => parseExperiment(e))
  time('task', () => taskOf(e.task))
  time('task brackets', () => taskOf(PRESETS[5].experiment.task))
  time('fields', () => experimentFields(e))
  time('encode', () => encodeLink(e))
})
