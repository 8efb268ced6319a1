import { expect, test } from 'vitest'
import { decodeLink } from '../../document/links/link.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { writeReport } from './report.ts'
import { initialState } from './store.ts'

const FACTS = {
  understory: '1.2.3',
  protocol: 3,
  browser: 'Chrome 144',
  hasWebgpu: true,
  isSecure: true,
  isIsolated: false,
  storage: { usage: 12e6, quota: 1e9 },
  errors: [{ atS: 61.4, message: 'no room' }],
}

test('a report says versions, adapter, limits, experiment and errors, and not what the run is called', () => {
  const experiment = {
    ...(presetOf('tiny')?.experiment ?? initialState().experiment),
    name: 'For Jane Doe',
    seed: 77,
  }
  const report = writeReport(
    {
      ...initialState(),
      experiment,
      status: 'failed',
      error: { name: 'GpuError', code: 'out_of_memory', message: 'adam_m needs 2 MB' },
      adapter: {
        vendor: 'v',
        architecture: 'a',
        description: 'A GPU',
        is_software: false,
        features: ['timestamp-query'],
        has_subgroups: false,
        has_f16: false,
        max_buffer_bytes: 256e6,
        max_binding_bytes: 128e6,
      },
    },
    FACTS,
  )
  for (const part of [
    'Understory 1.2.3',
    'Chrome 144',
    'v · a · A GPU',
    'bindings up to 128.0 MB',
    'out_of_memory: adam_m needs 2 MB',
    'storage: 12.0 MB of 1000.0 MB',
    'after 61 s: no room',
  ])
    expect(report).toContain(part)
  expect(report).not.toContain('Jane')
  const query = /^experiment: (.*)$/m.exec(report)?.[1] ?? ''
  expect(decodeLink(query).experiment).toEqual({ ...experiment, name: null })
})
