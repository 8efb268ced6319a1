// Holds how Chinese joins parts of a text, and how it writes signs and spaces.

/** Chinese writes the sign beside its number. */
const BEFORE_PERCENT = /(?<=\d)\s(?=%)/g
/** Behind an element. */
const LONE_STOP = /(?<=[\ue000-\uf8ff])\.(?=\s|$)/g
/** Between a sentence that is said already and an element. */
export const AFTER_STOP = /(?<=[。；：！？])[ \t]+(?=[\ue000-\uf8ff])/g
/** Between what is written in Chinese and the next part of it. */
const BEFORE_WORDS =
  /(?<=[\w%\]”\p{Script=Han}]),\s(?=\p{Script=Han})|(?<=\p{Script=Han}),\s(?=%)/gu
/** A duration, whose unit is a word. */
const DURATION = /(?<=[\d–]\s)(ms|s|min|h)(?![\w/])/g
const UNITS: Readonly<Record<string, string>> = { ms: '毫秒', s: '秒', min: '分钟', h: '小时' }
/** Behind its number. */
const TOKENS_A_SECOND = /(?<=\d )tok(?:ens)?\/s\b/g
const inWords = (text: string): string =>
  text.replace(DURATION, (unit) => UNITS[unit]).replace(TOKENS_A_SECOND, 'token/秒')
/** Of a run or an arm that is named by what it changes, and the setting alone. */
const RATE = /(?<![\w./:@-])lr(?=\s[−-]?\d|\s*$)/g
/** Behind an arm that is named by a number. */
const POINTS = /(?<=\d), points$/
/** Between names of which one holds a sign of its own. */
const BETWEEN_NAMES = /;\s(?=\S+ = )/g
/** Between a name that stays and what is said of it. */
const COLON = /:\s(?=\p{Script=Han})/gu
/** `1, 2, 3` and nothing else. */
const WHOLE_NUMBERS = /^\d+(?:, \d+)+$/
/** Elements in a row. */
const BETWEEN_ELEMENTS = /(?<=^|[\ue000-\uf8ff]), (?=[\ue000-\uf8ff])/g
/** `TRL’s trainer_state.json` */
const OF_WHOSE = /(?<=\b[A-Z]{2,})’s (?=\w+\.\w)/g
/** Before the folder that something is from. */
const FROM_FOLDER = /, from (?=[\w.-]+\/\S+$)/
/** What stays as it is written but for this. */
export const unsaid = (text: string): string =>
  inWords(inARow(text))
    .replace(BEFORE_PERCENT, '')
    .replace(LONE_STOP, '。')
    .replace(BETWEEN_ELEMENTS, '、')
    .replace(OF_WHOSE, ' 的 ')
    .replace(FROM_FOLDER, '，来自 ')
    .replace(RATE, '学习率')
    .replace(COLON, '：')
    .replace(WHOLE_NUMBERS, (numbers) => numbers.replaceAll(', ', '、'))
/** Where something comes from, how a layer is read, what else there is, and what is said of the
 * element before it, is none of a list. */
const NO_LIST =
  /、(?=来自|还有 \d)|(?<=^(?:嵌入层|最终策略))、(?=(?:原始|归一化)状态)|(?<=^[\ue000-\uf8ff])、(?=\p{Script=Han})/gu
/** Between the numbers of a list. */
const IN_A_LIST = /(?<=^[^[]*[\d%]),\s(?=[+−-]?\d)/g
/** `DPO, IPO, KTO`; `32 × 8, GRPO`; `KL 0.2, KL 1` */
const NAMES_IN_A_ROW =
  /^(?:[A-Z]\w*(?: [\d.]+)?|\d+ × \d+|[a-z] = \d+)(?:, (?:[A-Z]\w*(?: [\d.]+)?|[a-z] = \d+))+$/
/** Words of code, and proper names of a few words, with what is in brackets behind them. */
const NAMES_LISTED = /^(?:[^\s,，、]+|(?:[A-Z\d]\S*)(?: [A-Z\d]\S*){1,3}|\S+ \([^()]*\))$/
const BETWEEN_LISTED = /, (?:and |or )?| and | or /g
const inARow = (names: string): string =>
  NAMES_IN_A_ROW.test(names) ? names.replaceAll(', ', '、') : names
/** Names that stay as they are, in a row or not. */
export function listed(said: string): string {
  const names = inARow(said)
  const parts = names.split(BETWEEN_LISTED)
  if (parts.length < 2 || !parts.every((part) => NAMES_LISTED.test(part))) return names
  return names.replace(BETWEEN_LISTED, (joint) => (/\bor /.test(joint) ? '或' : '、'))
}
/** What a hole behind a text holds. Numbers of an interval are none of a list. */
export const inList = (said: string | undefined, before: string): string | undefined =>
  before.endsWith('[') ? said : said && inARow(said.replace(IN_A_LIST, '、'))

/** `31.9k 个权重`: Chinese counts in 万 and 亿. */
const THOUSANDS = /(?<![\w.])(\d+(?:\.\d+)?)([kMB]) (?=个)/g
const SIZES: Readonly<Record<string, number>> = { k: 1e3, M: 1e6, B: 1e9 }
function tenThousands(_: string, digits: string, unit: string): string {
  const count = Number(digits) * SIZES[unit]
  const [size, word] = count >= 1e8 ? [1e8, '亿'] : count >= 1e4 ? [1e4, '万'] : [1, '']
  return `${Number((count / size).toPrecision(6))} ${word}`
}
/** Of an arm that is named by a count alone. */
const NAMED_BY_COUNT = /(?<=与|比) (\d+ 对)(?=在|好|差|等效)/g
/** Counts of a whole that are all of it. */
const ALL_SEEDS = /(?<!\d)(\d+) 个种子中有 \1 个(，?)/g
const MINUS = /(?<=\p{Script=Han} )-(?=\d)/gu
/** What was given, and words of code, but for the apostrophe of a word and what code itself
 * quotes. */
const QUOTES = /(?<![\w“{]|: )'([^'“”]+)'(?![\w:])/g
/** A change whose direction its numbers say. */
const CHANGED =
  /从 ([−\d.]+)(%?) (?:变为 ([−\d.]+)(?=[ %。，；（]|$)|到 ([−\d.]+)(?= nats[。，；]))/g
const changed = (all: string, ...[from, unit, became, reached]: string[]): string => {
  const to = became ?? reached
  const by = Number(to.replace('−', '-')) - Number(from.replace('−', '-'))
  return by > 0 || by < 0 ? `从 ${from}${unit} ${by > 0 ? '升到' : '降到'} ${to}` : all
}
/** Around a word of Chinese that a person typed. */
const QUOTED_WORDS = /"([^"]*\p{Script=Han}[^"]*)"/gu
/** In one row with such words. */
const AFTER_QUOTED = /(?<=”(?:, "[^"]*")*), "([^"]*)"/gu
/** Around words of Chinese. */
const BRACKETS = /\(([^()]*\p{Script=Han}[^()]*)\)/gu

/** How parts of a text are joined in Chinese where they are said one by one; ',': as `commaOf` has
 * it. */
export const JOINTS: readonly (readonly [between: RegExp, joint: string])[] = [
  // The number of a heading ends no sentence.
  [/(?<=[.!?…])(?<!^\d\.)\s+(?=\S)/, ''],
  [/;\s+/, '；'],
  // Names, each with its number.
  [/,\s+(?=[^:,;]+: [−-]?[\d.]+(?: nats)?(?:,|$))/, '、'],
  [/:\s+/, '：'],
  [/\s·\s/, ' · '],
  [/\s–\s/, ' – '],
  [/,\s+|\sand\s/, ','],
  [/\sor\s/, '或'],
  [/\n+/, '\n'],
  // The number of a phase.
  [/(?<=^[①-⑳])\s/, ' '],
  // A name and its value.
  [/\s(?=(?:[−-]?\d[\d.,e−-]*(?:\s(?:%|nats))?|–)$)/, ' '],
  // A number and what has it; the critic and its setting.
  [/(?<=^(?:[\d.]+|critic))\s/, ' '],
]
/** `attention 3.26`, `output 3.25 nats` */
const NAMES_A_NUMBER = /^[A-Za-z].* [−-]?\d[\d.e−-]*(?: (?:nats|%))?$/
/** Between the parts of a text: what is said of one thing, such as the settings of a run, is no
 * list. A list's parts are names, or of one kind with other numbers. */
export function commaOf(text: string, parts: readonly string[]): string {
  const kinds = new Set(parts.map((part) => part.replace(/“[^”]*”|[−\d][\d.e−-]*/g, '#')))
  const isList =
    !/\d/.test(text) ||
    /\sand\s/.test(text) ||
    kinds.size === 1 ||
    parts.every((part) => NAMES_A_NUMBER.test(part))
  return isList ? '、' : '，'
}
export const SIGNS: Readonly<Record<string, string>> = {
  '.': '。',
  ':': '：',
  ';': '；',
  '?': '？',
  '!': '！',
  ',': '，',
}

/** Chinese writes no spaces around its own signs, nor between its words, but one beside Latin
 * letters and digits. */
export const tidy = (text: string): string =>
  inWords(text)
    .replace(BEFORE_PERCENT, '')
    .replace(BEFORE_WORDS, '，')
    .replace(/;\s(?=\p{Script=Han})/gu, '；')
    .replace(COLON, '：')
    .replace(BETWEEN_NAMES, '；')
    .replace(OF_WHOSE, ' 的 ')
    .replace(RATE, '学习率')
    .replace(POINTS, '，个百分点')
    .replace(/(?<=\bnats)\.\s?(?=\p{Script=Han})/gu, '。')
    .replace(QUOTES, /\p{Script=Han}/u.test(text) ? '“$1”' : '$&')
    .replace(QUOTED_WORDS, '“$1”')
    .replace(AFTER_QUOTED, (_, own) => `、“${own.trim() || '空格'}”`)
    .replace(/”,\s(?=“)/g, '”、')
    .replace(BRACKETS, '（$1）')
    .replace(ALL_SEEDS, (_, seeds, comma) => `全部 ${seeds} 个种子中${comma || '都'}`)
    .replace(MINUS, '−')
    .replace(THOUSANDS, tenThousands)
    .replace(NAMED_BY_COUNT, '“$1”')
    .replace(CHANGED, changed)
    .replace(NO_LIST, '，')
    .replace(/([，。；：！？、（）「」“”])[ \t]+(?=\S)/g, '$1')
    .replace(/[ \t]+(?=[，。；：！？、（）「」])|(?<=\p{Script=Han})[ \t]+(?=“)/gu, '')
    .replace(/(\p{Script=Han})[ \t]+(?=\p{Script=Han})/gu, '$1')
    .replace(/(\p{Script=Han})(?=[A-Za-z0-9])|([A-Za-z0-9%])(?=\p{Script=Han})/gu, '$1$2 ')

/** `[−2.4, +0.2]` */
const INTERVAL = /\[[−+-]?\d[^[\]]*\d\]/g

/** Cut at a joint, but not in brackets, in quotes, nor in an interval. */
export function splitOutside(text: string, between: RegExp): string[] {
  const parts: string[] = []
  let from = 0
  let depth = 0
  // A token may be a bracket itself.
  let at = /^[()][\s,]/.test(text) ? 1 : 0
  const intervals = [...text.matchAll(INTERVAL)].map(({ index, 0: own }) => [index, own.length])
  for (const { index, 0: joint } of text.matchAll(new RegExp(between.source, 'g'))) {
    for (; at < index; at++) depth += '(“'.includes(text[at]) ? 1 : ')”'.includes(text[at]) ? -1 : 0
    const isInside = intervals.some(([start, size]) => index > start && index < start + size)
    if (depth > 0 || isInside) continue
    parts.push(text.slice(from, index))
    from = index + joint.length
  }
  return [...parts, text.slice(from)]
}
