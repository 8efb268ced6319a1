// Jobs of rows that are conversations, judged outside: transformers makes the lab's ids of the
// exported rows, and tools.py answers as the lab's tools.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { onDataSet } from '../document/experiment/on_data_set.ts'
import { promptedTask } from '../document/experiment/trainer_config.ts'
import { experimentOf, filesOf } from '../jobs/testing.ts'
import { choiceOf, loadDataFiles, prepareFiles } from '../tasks/data/load_data.ts'
import { type DataPlan, USUAL_PLAN } from '../tasks/data/plan.ts'
import { loadProgram } from '../tasks/task/program.ts'
import { packTokenizer } from '../tasks/tokenizers/packed.ts'
import { createTools } from '../tasks/tools/index.ts'
import { callTool, TURN_DEFAULTS } from '../tasks/tools/tool.ts'
import { writeFolder } from './output/file_folder.ts'
import { HAS_PYTHON, hasModules, PATIENCE_MS, python } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-chat-jobs-'))
afterAll(() => rmSync(root, { recursive: true }))

const GOLDEN = 'conformance/fixtures/hf/tokenizer_qwen_style'
const read = (name: string) => readFileSync(`${GOLDEN}/${name}`, 'utf8')
const tokenizer = {
  name: 'tokenizer.json',
  bytes: new TextEncoder().encode(
    packTokenizer({
      'tokenizer.json': read('tokenizer.json'),
      'tokenizer_config.json': read('tokenizer_config.json'),
      'chat_template.jinja': read('chat_template_advanced.jinja'),
    }),
  ),
}
const PROGRAM = `tool_schema = {"type": "function", "function": {"name": "twice", "description": "ä \\"x\\"", "parameters": {"type": "object", "properties": {"of": {"type": "string", "description": ""}}, "required": []}}}
def execute(parameters):
    if parameters["of"] == "no":
        raise ValueError("not this")
    return parameters["of"] * 2, 0.5
`
const MODEL = {
  hidden_size: 32,
  num_hidden_layers: 1,
  num_attention_heads: 1,
  num_key_value_heads: 1,
}

const hashOf = (digit: string) => `sha256-${digit.repeat(64)}`

/** An experiment on ten rows, whose prompts are messages or texts. */
async function experimentWith(prompts: 'messages' | 'texts', more: object) {
  const rows = Array.from({ length: 10 }, (_, i) => {
    const said = `What is ${i} + 1?`
    const prompt = [
      { role: 'system', content: 'Answer briefly.' },
      { role: 'user', content: said },
    ]
    return JSON.stringify({ prompt: prompts === 'messages' ? prompt : said, answer: `${i + 1}` })
  })
  const file = { name: 'rows.jsonl', bytes: new TextEncoder().encode(rows.join('\n')) }
  const keys = { prompt_key: 'prompt', answer_key: 'answer', reward_fn_key: null }
  const plan: DataPlan = { ...USUAL_PLAN, ...keys, tokenizer: 'file' }
  const source = { file: tokenizer }
  const names = {
    data: hashOf(prompts === 'texts' ? 'c' : 'd'),
    name: file.name,
    val_data: null,
    val_name: null,
  }
  const files = { ...names, tokenizer_data: hashOf('e'), tokenizer_name: 'tokenizer.json' }
  const choice = choiceOf(files, plan, await prepareFiles(file, undefined, plan, source))
  await loadDataFiles(choice, file, undefined, source)
  const document = {
    model: MODEL,
    phases: [{ kind: 'rl', steps: 2 }],
    rollout: { train_batch_size: 4, n: 2, max_response_length: 64 },
    actor: { ppo_mini_batch_size: 4 },
    validation: { prompts: 2 },
    ...more,
  }
  return experimentOf({ ...document, ...onDataSet(document, choice).fields })
}

const code = hashOf('b')
const TOOLS = {
  tools: [{ id: 'calculator' }, { id: 'lookup' }, { id: 'program', code, name: 'twice.py' }],
  rollout: { train_batch_size: 4, n: 2, max_response_length: 64, max_turns: 3 },
}

const IDS = `
import json, sys, transformers, pyarrow.parquet as parquet
asked = json.load(sys.stdin)
t = transformers.AutoTokenizer.from_pretrained(asked["folder"] + "/model")
rows = parquet.read_table(asked["folder"] + "/data/train.parquet").to_pylist()
print(json.dumps([t.apply_chat_template(row["prompt"], tools=asked["tools"], tokenize=True, add_generation_prompt=True, return_dict=False) for row in rows]))
`

describe.skipIf(!hasModules('transformers', 'pyarrow'))(
  'transformers',
  { timeout: PATIENCE_MS },
  () => {
    test.for([
      ['messages', {}],
      ['texts', {}],
      ['messages', TOOLS],
      ['texts', TOOLS],
    ] as const)('makes the lab’s ids of rows that are %s', async ([prompts, more]) => {
      loadProgram(code, PROGRAM)
      const experiment = await experimentWith(prompts, more)
      const folder = join(root, `${prompts}-${'tools' in more}`)
      const { files, text } = filesOf(experiment)
      writeFolder(folder, files)
      const task = promptedTask(experiment)
      const tools = 'tools' in more ? createTools(experiment.tools, experiment.reward) : []
      const schemas = tools.length > 0 ? tools.map(({ schema }) => schema) : null
      const ids = python(IDS, { folder, tools: schemas })
      const expected = (ids as unknown[]).map((_, i) => {
        const { prompt } = task.sample(experiment.seed, i, 'train_set')
        return task.tokenizer.encode(prompt)
      })
      expect(expected).toHaveLength(8)
      expect(ids).toEqual(expected)
      const { check } = JSON.parse(text.get('understory.json') ?? '')
      expect(check.prompts[0].ids).toEqual(
        task.tokenizer.encode(task.sample(experiment.seed, 0, 'test').prompt),
      )
    })
  },
)

const CALLS = [
  ['calculator', { expression: '12*(3+4)' }],
  ['calculator', { expression: ' 7 / 2 ' }],
  ['calculator', { expression: '1/3' }],
  ['calculator', { expression: '2/3000000' }],
  ['calculator', { expression: '1/30000000000' }],
  ['calculator', { expression: '3-5' }],
  ['calculator', { expression: '1/0' }],
  ['calculator', { expression: '1+' }],
  ['calculator', { expression: '99999999*999999999' }],
  ['calculator', { expression: 5 }],
  ['calculator', {}],
  ['lookup', { key: ' Keys of a Piano ' }],
  ['lookup', { key: '42' }],
  ['lookup', { key: '__proto__' }],
] as const

const TOOL_CODE = `
import json, sys, types
names = {}
def function_tool(name, schema):
    def register(fn):
        names[name] = (fn, schema)
        return fn
    return register
for module in ("verl", "verl.tools", "verl.tools.function_tool"):
    sys.modules[module] = types.ModuleType(module)
sys.modules["verl.tools.function_tool"].function_tool = function_tool
asked = json.load(sys.stdin)
import importlib.util
spec = importlib.util.spec_from_file_location("job_tools", asked["folder"] + "/tools.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
said = []
for name, arguments in asked["calls"]:
    try:
        said.append(names[name][0](**arguments))
    except Exception as error:
        said.append(f"Error executing tool '{name}': {error}")
print(json.dumps([[schema for _, schema in names.values()], said]))
`

describe.skipIf(!HAS_PYTHON)('Python', { timeout: PATIENCE_MS }, () => {
  test('tools.py has the schemas of the lab, and answers as its tools do', async () => {
    loadProgram(code, PROGRAM)
    const experiment = await experimentWith('messages', TOOLS)
    const folder = join(root, 'tools')
    writeFolder(folder, filesOf(experiment).files)
    const own = [
      ['twice', { of: 'ab' }],
      ['twice', { of: 'no' }],
    ] as const
    const [schemas, said] = python(TOOL_CODE, { folder, calls: [...CALLS, ...own] }) as [
      unknown,
      unknown[],
    ]
    const tools = createTools(experiment.tools, experiment.reward)
    expect(schemas).toEqual(tools.map(({ schema }) => schema))
    const limits = { ...TURN_DEFAULTS, max_assistant_turns: 2, max_user_turns: undefined }
    const expected = await Promise.all(
      CALLS.map(
        async ([name, args]) => (await callTool(tools, { name, arguments: args }, limits)).text,
      ),
    )
    expect(said.slice(0, CALLS.length)).toEqual(expected)
    expect(said.slice(CALLS.length)).toEqual([
      ['abab', 0.5],
      "Error executing tool 'twice': not this",
    ])
  })
})

test('verl’s command has the limits and the tools of a run with a chat template, and an older verl is refused', async () => {
  loadProgram(code, PROGRAM)
  const experiment = await experimentWith('messages', TOOLS)
  const { text } = filesOf(experiment)
  const script = text.get('run_verl.sh') ?? ''
  const multiTurn = 'actor_rollout_ref.rollout.multi_turn'
  for (const line of [
    `${multiTurn}.enable=True`,
    `${multiTurn}.format=hermes`,
    `${multiTurn}.max_assistant_turns=3`,
    `${multiTurn}.max_parallel_calls=1`,
    `${multiTurn}.max_tool_response_length=256`,
    `${multiTurn}.tool_response_truncate_side=middle`,
    'actor_rollout_ref.rollout.agent.default_agent_loop=tool_agent',
  ])
    expect(script).toContain(line)
  expect(script).toMatch(/multi_turn\.function_tool_path=.*tools\.py/)
  expect(text.get('tool_3.py')).toBe(PROGRAM)
  expect(() => filesOf(experiment, { verl: '0.7' })).toThrow(
    /rollout\.max_turns is 3: verl 0\.7 loads no tools from a file/,
  )
  expect(filesOf(await experimentWith('messages', {})).text.get('tools.py')).toBeUndefined()
})
