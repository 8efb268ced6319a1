// Tells what is said and opened after something was refused, stopped or closed: a search that
// nobody answers holds nothing up, and what was closed is not heard of again.
import { expect, test } from 'vitest'
import { FILES, file, open, reader } from './testing.ts'

const BROKEN = open([...FILES, file('broken')])

/** A search whose frame nobody answers. */
function find(own: ReturnType<typeof reader>['own']) {
  const { port1, port2 } = new MessageChannel()
  own.handle({ type: 'find_model', place: 'first', address: 'a/b', port: port1 })
  return port2
}

const said = (events: ReturnType<typeof reader>['events']) =>
  events.map((event) => (event.type === 'model_failed' ? event.message : event.type))

test('two searches that nobody answers keep no folder from being opened: refused, refused, opened', async () => {
  const { own, events } = reader()
  const ports = [find(own), find(own)]
  await new Promise((resolve) => setTimeout(resolve))
  for (const folder of [BROKEN, BROKEN, open(FILES)]) {
    own.handle({ type: 'close_model' })
    own.handle(folder)
    await own.idle
  }
  expect(said(events)).toEqual(['It is broken.', 'It is broken.', 'model_progress', 'model_opened'])
  for (const port of ports) port.close()
})

test('a second search takes the place of one that still waits for leave', async () => {
  const { own, events } = reader()
  const first = find(own)
  const second = find(own)
  second.postMessage({ refused: 'You did not allow it.' })
  await own.idle
  expect(said(events)).toEqual(['You did not allow it.'])
  first.close()
  second.close()
})

test('what was stopped says so, also what had not begun, and the next folder is opened', async () => {
  const { own, events } = reader()
  own.handle(open(FILES))
  own.handle(open(FILES))
  own.handle({ type: 'cancel_model' })
  await own.idle
  const ended = 'It was ended. What has arrived is kept.'
  expect(said(events)).toEqual([ended, ended])
  own.handle(open(FILES))
  await own.idle
  expect(said(events).at(-1)).toBe('model_opened')
})

test('a folder that was closed while it was opened is not heard of again', async () => {
  const { own, events, seen } = reader()
  own.handle(open(FILES))
  await Promise.resolve()
  own.handle({ type: 'close_model' })
  own.handle({ ...open(FILES), name: 'next' })
  await own.idle
  const opened = events.filter(({ type }) => type === 'model_opened' || type === 'model_failed')
  expect(opened).toMatchObject([{ type: 'model_opened', model: { name: 'next' } }])
  expect(seen.closed).toBe(1)
})
