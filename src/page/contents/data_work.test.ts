// The page's side of the worker that reads data files: pieces become rows, one request follows the
// other, and a signal ends the worker.
import { expect, test, vi } from 'vitest'
import { USUAL_PLAN } from '../../tasks/data/plan.ts'
import { BadRowsError } from '../../tasks/data/table/bad_rows.ts'
import { readDataFile } from '../client/data_file.ts'
import type { DataPort, DataReport, DataRequest } from '../connection/data_messages.ts'
import { DataWork, sourceOf } from './data_work.ts'

class FakePort implements DataPort {
  onmessage: DataPort['onmessage'] = null
  onerror: DataPort['onerror'] = null
  isTerminated = false
  readonly asked: DataRequest[] = []
  postMessage(request: DataRequest) {
    this.asked.push(request)
  }
  terminate() {
    this.isTerminated = true
  }
  says(...reports: DataReport[]) {
    for (const data of reports) this.onmessage?.({ data } as MessageEvent<DataReport>)
  }
}

const bytes = new TextEncoder().encode('1,2')
const source = sourceOf({ hash: 'sha256-a', name: 'a.csv', bytes })
const plan = { ...USUAL_PLAN, prompt_key: 'a', answer_key: 'b', reward_fn_key: null }
const request = { train: source, val: undefined, plan, tokenizer: undefined }
const head = { columns: [], keys: [], notes: [], first_plan: plan, first_rows: [] }
const found = {
  rows: 2,
  duplicates: 0,
  ambiguous: 0,
  dropped: 0,
  shared: 0,
  notes: [],
  bad: { count: 0, first: [] },
  prompt_lengths: [1],
  answer_lengths: [1],
}
const settled = () => new Promise((resolve) => setTimeout(resolve))

test('rows that come in pieces are one set, with the tokenizer made again', async () => {
  const port = new FakePort()
  const shares: number[] = []
  const prepared = new DataWork(() => port).prepare(request, {
    onProgress: (share) => shares.push(share),
  })
  await settled()
  const [one, two] = [1, 2].map((n) => ({ prompt: `${n}`, ground_truth: 'x' }))
  port.says(
    { kind: 'progress', share: 0.5 },
    { kind: 'rows', side: 'train', rows: [one] },
    { kind: 'rows', side: 'test', rows: [two] },
    { kind: 'rows', side: 'train', rows: [two] },
    {
      kind: 'prepared',
      rest: { answers: 'text', max_prompt_length: 1, max_response_length: 2, found },
      tokenizer: { alphabet: '12x' },
    },
  )
  const { train, test: held, tokenizer } = await prepared
  expect([train, held, shares]).toEqual([[one, two], [two], [0.5]])
  expect(tokenizer.encode('x2')).toEqual([4, 3])
})

test('requests wait for each other, and bad rows are told with their number', async () => {
  const port = new FakePort()
  const work = new DataWork(() => port)
  const [first, second] = [work.open(source), work.prepare(request)]
  await settled()
  expect(port.asked.map(({ kind }) => kind)).toEqual(['open'])
  port.says({ kind: 'opened', head })
  expect(await first).toEqual(head)
  await settled()
  port.says({ kind: 'failed', problem: 'x', bad: { count: 3, first: ['a.csv: line 2: no'] } })
  await expect(second).rejects.toThrow('a.csv: line 2: no; 2 other rows cannot be used either')
  await expect(second).rejects.toBeInstanceOf(BadRowsError)
})

test('a bundle is unpacked by the worker', async () => {
  const port = new FakePort()
  const unpacked = new DataWork(() => port).unpack(source)
  await settled()
  expect(port.asked).toEqual([{ kind: 'bundle', source }])
  const bundle = { document: { seed: 1 }, files: [] }
  port.says({ kind: 'unpacked', bundle })
  expect(await unpacked).toEqual(bundle)
})

test('a reader without progress is ended, and the patterns that it may be in are named', async () => {
  vi.useFakeTimers()
  try {
    const ports: FakePort[] = []
    const work = new DataWork(() => {
      ports.push(new FakePort())
      return ports[ports.length - 1]
    })
    const refused = expect(work.prepare(request)).rejects.toThrow(
      /took 30 s without progress and was ended.*the tokenizer has tokenizer\.json: Split\.pattern: \(x\+\)\+\./,
    )
    await vi.advanceTimersByTimeAsync(20_000)
    ports[0].says(
      { kind: 'progress', share: 0.1 },
      { kind: 'patterns', patterns: ['tokenizer.json: Split.pattern: (x+)+'] },
    )
    await vi.advanceTimersByTimeAsync(29_000)
    expect(ports[0].isTerminated).toBe(false)
    await vi.advanceTimersByTimeAsync(2000)
    expect(ports[0].isTerminated).toBe(true)
    await refused
    // The next request has another worker.
    const opened = work.open(source)
    await vi.advanceTimersByTimeAsync(0)
    ports[1].says({ kind: 'opened', head })
    expect(await opened).toEqual(head)
  } finally {
    vi.useRealTimers()
  }
})

test('a signal ends the worker, and the next request has another', async () => {
  const ports: FakePort[] = []
  const work = new DataWork(() => {
    ports.push(new FakePort())
    return ports[ports.length - 1]
  })
  const ended = new AbortController()
  const first = work.open(source, { signal: ended.signal })
  await settled()
  ended.abort()
  await expect(first).rejects.toThrow('was ended')
  expect(ports[0].isTerminated).toBe(true)
  const second = work.open(source)
  await settled()
  ports[1].says({ kind: 'opened', head })
  expect(await second).toEqual(head)
  work.end()
  expect(ports[1].isTerminated).toBe(true)
})

test('a file of 2 GB is refused before it is read', async () => {
  const file = { name: 'huge.jsonl', size: 2 ** 31 } as File
  await expect(readDataFile(file, {})).rejects.toThrow(
    'huge.jsonl: expected at most 256 MiB, found 2048 MiB; take a part of it',
  )
})
