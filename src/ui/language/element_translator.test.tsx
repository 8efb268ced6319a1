import { renderToStaticMarkup } from 'react-dom/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { translateWith } from '../kit/translator.ts'
import { translateProps } from './element_translator.ts'
import { TextTranslator } from './text_translator.ts'

const CATALOGUE: Readonly<Record<string, string>> = {
  Save: '保存',
  'Layer {0} has {1} of {2}': '{2}的第 {0} 层有{1}',
  'a policy': '策略',
  'the model': '模型',
  'Read {0} first.': '先读{0}。',
  'Help for {0}': '{0}的帮助',
  '{0} {1} runs once.': '{0} {1}运行一次。',
}

beforeAll(() => {
  const texts = new TextTranslator({
    say: (key, values = []) =>
      CATALOGUE[key]?.replace(/\{(\d+)\}/g, (_, index) => values[Number(index)]),
  })
  texts.learn(Object.keys(CATALOGUE))
  const text = (english: string) => texts.translate(english)
  translateWith({
    locale: 'zh-CN',
    text,
    props: (type, props) => translateProps(type, props, text),
  })
})
afterAll(() => translateWith(undefined))

function Wrapped({ children }: { readonly children: string }) {
  return <button type="button">{children}</button>
}

test('an element shows its text in the language, whichever component it comes from', () => {
  expect(renderToStaticMarkup(<Wrapped>Save</Wrapped>)).toBe('<button type="button">保存</button>')
})

test('values and elements take their place in the sentence', () => {
  const layer = 3
  expect(
    renderToStaticMarkup(
      <p>
        Layer {layer} has <b>a policy</b> of <i>the model</i>
      </p>,
    ),
  ).toBe('<p><i>模型</i>的第 3 层有<b>策略</b></p>')
  expect(
    renderToStaticMarkup(
      <p>
        <i /> Read <b>this</b> first. {null}
      </p>,
    ),
  ).toBe('<p><i></i> 先读 <b>this</b>。 </p>')
})

test('what is left out before a sentence keeps its place in it', () => {
  for (const before of [null, <i key="i">a policy</i>])
    expect(
      renderToStaticMarkup(
        <p>
          {before} <b>Save</b> runs once.
        </p>,
      ),
    ).toBe(`<p>${before ? '<i>策略</i>' : ''} <b>保存</b>运行一次。</p>`)
})

test('what is spoken is in the language too; code and what is marked are not', () => {
  const name = 'Sheep'
  expect(renderToStaticMarkup(<input aria-label={`Help for ${name}`} title="Save" />)).toBe(
    '<input aria-label="Sheep 的帮助" title="保存"/>',
  )
  expect(renderToStaticMarkup(<code>Save</code>)).toBe('<code>Save</code>')
  expect(renderToStaticMarkup(<mark>Save</mark>)).toBe('<mark>Save</mark>')
  expect(renderToStaticMarkup(<b translate="no">Save</b>)).toBe('<b translate="no">Save</b>')
})

test('what the model wrote is not translated, and what is said of it is', () => {
  expect(
    renderToStaticMarkup(
      <span className="tok prose" title="Save">
        Save
      </span>,
    ),
  ).toBe('<span class="tok prose" title="保存">Save</span>')
  expect(
    renderToStaticMarkup(
      <b className="response">
        <>Save</>
      </b>,
    ),
  ).toBe('<b class="response">保存</b>')
})

test('a number of several parts has its per cent sign beside it', () => {
  const share = 28.5
  expect(renderToStaticMarkup(<td>{share} %</td>)).toBe('<td>28.5%</td>')
})

test('an element that is a sentence has a full stop of Chinese', () => {
  expect(
    renderToStaticMarkup(
      <p>
        <b>Save</b>.
      </p>,
    ),
  ).toBe('<p><b>保存</b>。</p>')
})

test('an option without a value keeps its text as its value', () => {
  expect(renderToStaticMarkup(<option>Save</option>)).toBe('<option value="Save">保存</option>')
})

test('a sentence that is said already has no space behind its stop', () => {
  const said = '每一层都有策略。'
  expect(
    renderToStaticMarkup(
      <p>
        {said} <b>Save</b>
      </p>,
    ),
  ).toBe('<p>每一层都有策略。<b>保存</b></p>')
})

test('no space stands between a sign of Chinese and what follows it in a line', () => {
  expect(
    renderToStaticMarkup(
      <p>
        <b>一步。</b> <span>取平均。</span> <button type="button">Save</button>
      </p>,
    ),
  ).toBe('<p><b>一步。</b><span>取平均。</span> <button type="button">保存</button></p>')
  expect(
    renderToStaticMarkup(
      <p>
        Save <span>（之后）</span>
      </p>,
    ),
  ).toBe('<p>保存<span>（之后）</span></p>')
})
