// Tells texts for people from names, code and addresses, by how they are written and by what they
// are written into.

/** Properties and attributes that hold no text for people. */
const NAMES =
  /^(class(Name)?|id|key|kind|type|role|href|src|rel|target|d|viewBox|fill|stroke|transform|tex|theme|also|lineCap|lineJoin|numeric|hour|minute|day|month|year|notation|block|inline|behavior|textAlign|code|python|wgsl|path|field|fields|metric|metrics|format|mode|method|points|cursor|display|font\w*|text(Anchor)?|dominantBaseline|data-[\w-]+|html[fF]or|autoComplete|inputMode|spellCheck|lang|tabIndex|ref|style|source|url|body|link|content_?type|accept|of|color|dash|event|op|operator|overflow|dtype|name_in\w*|strokeLinecap|preserveAspectRatio|aria-(live|controls|labelledby|describedby|haspopup|current|hidden|autocomplete|sort|orientation|relevant|atomic|expanded|activedescendant|owns|pressed|selected|checked))$/
/** Those whose texts are for people, even of one word. */
const SAID =
  /^(title|aria-(label|description|valuetext|roledescription)|label|labels|placeholder|alt|summary|short|long|heading|says|help|hint|asks|because|does|words|unit|message|advice|caption|description|what|why|who|when|name|names|text|group|verb|noun|singular|plural)$/

/** `text` is a name in CSS alone: `textAnchor` is, `text` is not. */
export const holdsNoText = (name) => name !== 'text' && NAMES.test(name)
export const holdsText = (name) => SAID.test(name)

const WORD = /^[("“‘'[]*[A-Za-z][A-Za-z’'-]*[.,:;!?…)”’'\]]*$/
const CODE =
  /[{}=<>]|;(?! )|=>|\$\(|\bvar\(|^[#./@\\-]|\\[a-z]+[{\\ ]|^\w+:\/\/|^(GET|POST)\b|^\d+(\.\d+)?(px|em|ms|s)\b|^[a-z-]+\/[a-z*-]+$|__/

/** Whether a text, with its holes as `{0}`, is for people. `isSaid`: it stands where only such
 * texts do. `isShown`: one word there
 * is likely shown; 'capital': where it begins with a capital. */
export function isText(text, { isSaid, isShown }) {
  const bare = text.replace(/\{\d+\}/g, ' ')
  const letters = bare.match(/[A-Za-z]/g)?.length ?? 0
  if (letters < 2) return false
  const words = bare.split(/\s+/).filter((word) => WORD.test(word))
  if (words.length === 0) return false
  const hasSpace = /\S\s+\S/.test(text.trim())
  const isClause = /[a-z]{2,} [a-z]+ [a-z]{2,}/i.test(bare)
  // Selectors, fonts and functions of CSS.
  if (
    /^(input|button|select|textarea|a|summary|dialog)(, \w+)+$|sans-serif|^[a-z][\w-]*\(/.test(
      text,
    ) ||
    (/, \.[a-z]/.test(text) && !isClause)
  )
    return false
  if (/\n/.test(text) && /[;{}|]|^#/m.test(bare)) return false
  if (/^[A-Z][a-z]+[A-Z]\w*$/.test(text)) return false
  const looksCode = CODE.test(bare) && !isClause
  if (isSaid)
    return !looksCode && (hasSpace || /^[A-Za-z][a-z’'-]*[.:…!?]?$|[A-Z][a-z]|\{\d+\}/.test(text))
  if (looksCode) return false
  if (hasSpace)
    return (
      words.some((word) => /[a-z]{2}/i.test(word)) &&
      (words.length > 1 || /\{\d+\}|^[A-Z][a-z]+ \d+$/.test(text))
    )
  if (/^[A-Z][a-z’'-]+[.:…!?]?$/.test(text)) return isShown !== false
  return isShown === true && /^(?:no|[a-z]{3,})[.:…]?$/.test(text)
}
