// Asks of every text of the catalogues that it is found again in what the page makes from it.
import { expect, test } from 'vitest'
import { allTexts, SAID } from './testing.ts'

/** Two values side by side, or one behind a point: no value of these tests shows where it ends. */
const IS_UNSURE = /\}\{|\.\{/
const VALUES = ['a.csv', 'b_c', 'X9', 'd/e', 'f.g', 'H', 'i_j', 'k.l', 'm_n', 'O']

const filled = (text: string) => text.replace(/\{(\d+)\}/g, (_, i) => VALUES[Number(i)])

let asked = 0
const texts = allTexts(() => {
  asked++
})

/** What figures and tables say of runs, put together from several texts. */
const OF_RUNS: Readonly<Record<string, string>> = {
  'phases: expected an inner phase before phase 1 (reinforcement, 45 steps), found none; the fork trains one inner layer for its first steps and then the whole model, with the same settings. Without an inner phase choose verl':
    'phases：在阶段 1（强化学习，45 步）之前应有内部阶段，没有找到；该 fork 在前若干步训练一个内部层，然后训练整个模型，两者使用同样的设置。没有内部阶段时请选择 verl',
  'phases.1.kind is preference: verl has no trainer of preferences; choose TRL':
    'phases.1.kind 为 preference：verl 没有偏好训练器；请选择 TRL',
  'phases: phase 1 (reinforcement of layer 2, 45 steps) is over at this checkpoint; choose these settings untrained, or verl':
    'phases：阶段 1（强化学习，第 2 层，45 步）在此检查点已经结束；请选择未经训练的这些设置，或选择 verl',
  'The picture above is of a recording of “First run: an inner layer, then all”, made on another machine.':
    '上方画面取自另一台机器上录制的“第一次运行：先一个内部层，再全部”。',
  'Raw state · response tokens in the training batch': '原始状态 · 训练批次的回答 token',
  'Raw state · response tokens in the training batch. Nats, from 0 (certain) to ln V.':
    '原始状态 · 训练批次的回答 token。单位 nats，从 0（确定）到 ln V。',
  '3 of 4 answers to “318>” are right. The right answers got advantage +0.5, the wrong one −1.5.':
    '对“318>”的 4 个回答中，有 3 个正确。正确的回答优势各为 +0.5，错误的那个为 −1.5。',
  '2 answers to “1+2=” score from 0.25 to 1. Their advantages go from −0.5 to +0.5.':
    '对“1+2=”的 2 个回答的得分从 0.25 到 1。它们的优势从 −0.5 到 +0.5。',
  'cos(F, H + A): feed-forward': 'cos(F, H + A)：前馈网络',
  'REINFORCE++ compares each response with the whole batch, not with the others to its prompt.':
    'REINFORCE++ 把每个回答与整个批次相比，而不是与同一提示的其他回答相比。',
  'The attention of layer 2 adds most to what is there (cosine 0.06); the feed-forward of layer 3 takes most away (−0.1).':
    '第 2 层的注意力对已有内容增强最多（余弦 0.06）；第 3 层的前馈网络去掉最多（−0.1）。',
  'From step 1 to 22 it stayed at 3.25 nats; it was lowest at step 8, 3.25 nats.':
    '从第 1 步到第 22 步，它保持在 3.25 nats；最低在第 8 步，3.25 nats。',
  'From step 1 to 22 the policy of the embedding changed most: it fell from 3.2 to 2 nats.':
    '从第 1 步到第 22 步，嵌入层的策略变化最大：从 3.2 降到 2 nats。',
  'Reinforcement of layer 2 alone, 4 steps: its policy hardly changed its entropy (0.02 nats); the final policy became surer by 0.26 nats. Of 128 held-out problems it solved 12 %, then 44 %.':
    '只对第 2 层做强化学习，4 步：它的策略的熵几乎没有变化（0.02 nats）；最终策略的熵下降了 0.26 nats。128 道留出题目的准确率从 12% 升到 44%。',
  'Of 128 held-out problems it solved 12 %, then 14 %, no clear change; with sampled answers 10 % at step 30, then 11 %.':
    '128 道留出题目的准确率从 12% 升到 14%（变化在误差范围内）；采样回答时从 10%（第 30 步）变为 11%。',
  // What may stand behind it, a button, does not.
  'This is the model as it comes with the page: nothing was trained here.':
    '这是随页面附带的模型：这里没有训练过任何东西。',
  '14 settings in 5 sections': '5 个部分，14 项设置',
  '22 more without effect as the settings are': '另有 22 项在当前设置下不起作用',
  'Train it without the inner phase (about 37 s)': '去掉内部阶段再训练一次（约 37 秒）',
  'First run, without its inner phase': '第一次运行，去掉内部阶段',
  'smoothed last': '平滑后的末值',
  'Layer 3: input 3.26, attention 3.26, feed-forward 3.26, output 3.25 nats':
    '第 3 层：输入 3.26、注意力 3.26、前馈网络 3.26、输出 3.25 nats',
  'Save “Entropy of every layer over the run: raw state” as':
    '将“运行中每一层的熵：原始状态”保存为',
  'BuPO (GRPO), layer 2 first, lr 0.01, 8 prompts per step, seed 1':
    'BuPO（GRPO），先训练第 2 层，学习率 0.01，每步的提示数 8，种子 1',
  'BuPO (REINFORCE++), layer 2 first, lr 0.005, lr 0.001 after step 12':
    'BuPO（REINFORCE++），先训练第 2 层，学习率 0.005，学习率 0.001，第 12 步之后',
  'GRPO, validation every 16 steps, probe every 4 steps': 'GRPO，验证间隔 16 步，探针间隔 4 步',
  'Link copied: it opens the settings (12 steps), not the run on screen, with its seed.':
    '已复制链接：它会打开当前设置（12 步），而不是屏幕上的运行，并带有它的随机种子。',
  'Link copied: it opens this experiment with its seed.':
    '已复制链接：它会打开此实验，并带有它的随机种子。',
  'GRPO, then PPO, without KL in the loss, critic warm-up 5':
    'GRPO，然后 PPO，去掉损失中的 KL，critic 预热 5',
  '7 93.1 %, entropy 0.31 nats, 9 follows with 3.4 %': '7 93.1%，熵 0.31 nats，后接 9，概率 3.4%',
  'preparing: 5 parts ready': '准备中：已完成 5 个部分',
  'Learning rate is 3e-4 again': '学习率恢复为 3e-4',
  '")", bytes 29, id 21': '")"，字节 29，id 21',
  // Settings of one run are no list.
  'BuPO (REINFORCE++), layer 2 first, phase 2: 6 steps, seed 2, step 10':
    'BuPO（REINFORCE++），先训练第 2 层，阶段 2：6 步，种子 2，第 10 步',
  'd = e, about 2.7': 'd = e，约 2.7',
  'arXiv 2503.14476, section 3.2, dynamic sampling': 'arXiv 2503.14476，第 3.2 节，动态采样',
  'Trains the final policy, REINFORCE++, 41 steps': '训练最终策略，REINFORCE++，41 步',
  'task: Sort digits': '任务：排序数字',
  'REINFORCE++, 1 phase, seed 2, lr 5e-4, from “First run: an inner layer, then all”':
    'REINFORCE++，1 个阶段，种子 2，学习率 5e-4，来自“第一次运行：先一个内部层，再全部”',
  'began GRPO after step 9, from “First run: an inner layer, then all”':
    '开始了 GRPO，第 9 步之后，来自“第一次运行：先一个内部层，再全部”',
  'Primary measure, fixed beforehand: held-out accuracy (4 samples), at the end of the budget; higher is better.':
    '主要指标，事先确定：留出准确率（4 个样本），在预算用完时；越高越好。',
  'layer 1 alone is worse than whole model (−23.5 [−34.2, −12.8] points, 6 seeds, p 0.0252 after Holm).':
    '只训练第 1 层比整个模型差（−23.5 [−34.2, −12.8] 个百分点，6 个种子，Holm 校正后 p 0.0252）。',
  // Ranges and full stops are said in Chinese however deep they lie.
  'Better than “reward model, then PPO” by 6.0 to 11.6 points: DPO, IPO, KTO. 6 seeds.':
    'DPO、IPO、KTO 比“先奖励模型，再 PPO”好 6.0 到 11.6 个百分点。6 个种子。',
  'No difference between “BuPO, layer 3” and GRPO was found in held-out accuracy (greedy): +1.0 [−2.0, +4.0] points, with 6 seeds.':
    '未发现“BuPO，第 3 层”与 GRPO 在留出准确率（贪心）上有差异：+1.0 [−2.0, +4.0] 个百分点，6 个种子。',
  '“BuPO, layer 3” ended 3.0 points above GRPO [1.0, 5.0], with 6 seeds.':
    '“BuPO，第 3 层”最终比 GRPO 高 3.0 个百分点 [1.0, 5.0]，6 个种子。',
  'Equal to GRPO within 3.0 points, −0.5 to −0.3 points: layer 3, raw; final policy, blocks 1 to 3. 6 seeds.':
    '第 3 层，原始读出；最终策略，第 1 到 3 块与 GRPO 等效（差异在 3.0 个百分点之内），−0.5 到 −0.3 个百分点。6 个种子。',
  'Better than GRPO by 22.3 to 29.0 points: distillation, reverse KL; distillation, JSD. 8 seeds.':
    '蒸馏，反向 KL；蒸馏，JSD 比 GRPO 好 22.3 到 29.0 个百分点。8 个种子。',
  'No difference between “BuPO, layer 3” and whole model was found in held-out accuracy (greedy): −1.0 points, with 6 seeds.':
    '未发现“BuPO，第 3 层”与整个模型在留出准确率（贪心）上有差异：−1.0 个百分点，6 个种子。',
  '“32 × 8, GRPO” ended 3.0 points above GRPO [1.0, 5.0], with 6 seeds.':
    '“32 × 8、GRPO”最终比 GRPO 高 3.0 个百分点 [1.0, 5.0]，6 个种子。',
  'Spent, responses': '所用回答数',
  'whole model (n = 3)': '整个模型（n = 3）',
  // All of the seeds are not counted twice.
  'The model grows sure of what it knew: the entropy of the final policy fell in 5 of 5 seeds (1.4 → 0.3).':
    '模型对已会的内容更加确定：最终策略的熵在全部 5 个种子中都下降（1.4 → 0.3）。',
  'It ends above GRPO of the same seed in 5 of 5 seeds.':
    '全部 5 个种子中，它最终高于同一种子的 GRPO。',
  'It ends above GRPO of the same seed in 4 of 5 seeds.':
    '5 个种子中有 4 个，它最终高于同一种子的 GRPO。',
  'This needs a GPU, and the browser gives the page none.': '这需要 GPU，而浏览器没有提供 GPU。',
  'Better than GRPO by 4.7 to 7.9 points: 2 of 3 arms. 6 seeds.':
    '3 个实验组中有 2 个比 GRPO 好 4.7 到 7.9 个百分点。6 个种子。',
  'No difference from BuPO was found in greedy held-out accuracy of the start with blocks up to 3 of the run: −0.5 to −0.3 points, with 6 seeds.':
    '未发现各实验组与 BuPO 在起点换入训练后的第 1 到 3 块时的留出准确率（贪心）上有差异：−0.5 到 −0.3 个百分点，6 个种子。',
  'Held-out accuracy (greedy) by arm': '各实验组的留出准确率（贪心）',
  'Held-out reward (one sample) by arm': '各实验组的留出奖励（一个样本）',
  'Held-out pass@16 by arm': '各实验组的留出 pass@16',
  'Spent, 10⁹ operations': '所用 10⁹ 次运算',
  'KL 0.05, low': 'KL 0.05，低',
  'KL 0.05 is better than no KL (+1.0 [+0.2, +1.8] points, 5 seeds, p 0.01 after Holm).':
    'KL 0.05 比没有 KL 好（+1.0 [+0.2, +1.8] 个百分点，5 个种子，Holm 校正后 p 0.01）。',
  'Held-out accuracy (greedy) →': '留出准确率（贪心）→',
  'responses →': '回答数 →',
  ', whole model, the last one traced of 16.': '（整个模型）：16 步中最近一次追踪的一步。',
  '① layer 2': '① 第 2 层',
  'final policy –': '最终策略 –',
  'layer 2 –': '第 2 层 –',
  '\ue000runs of studies (256)': '\ue000研究的运行（256）',
  'pinned kernels *:vector_4x4': '固定的内核 *:vector_4x4',
  'Right samples on held-out problems 17 % → 32 % in 80 steps; entropy of the final policy 1.38 → 1.08 nats. 3 runs.':
    '留出题目上正确的样本 17% → 32%，80 步；最终策略的熵 1.38 → 1.08 nats。3 次运行。',
  'Held-out accuracy (4 samples): difference from reward model, then PPO, points':
    '留出准确率（4 个样本）：差异，对比先奖励模型，再 PPO，个百分点',
  'token table 1.7\u00a0%': 'token 表 1.7%',
  'Which layer learns? (Addition, pretrained)': '哪一层在学习？（加法、预训练）',
  'Takes about 50 s here, an estimate': '在这里需要约 50 秒（估计）',
  '22 of 41 steps': '22/41 步',
  'Takes about 6 min here, an estimate': '在这里需要约 6 分钟（估计）',
  'Train it without the inner phase (about 1 min 37 s)': '去掉内部阶段再训练一次（约 1 分 37 秒）',
  ', about 3 min left': '，还需约 3 分钟',
  ', about 40 s left': '，还需约 40 秒',
  '2 questions not answered and 1 experiment left': '2 道题未答、1 个实验未做',
  'From step 1 to 6 the entropy of the final policy did not change clearly: 1.42 nats, then 1.41 nats.':
    '从第 1 步到第 6 步，最终策略的熵的变化在误差范围内（1.42 nats → 1.41 nats）。',
  '44 presets.': '共 44 个预设。',
  'From its beginning to its numbers the median step took 3.71 s: its latency, as the next step begins before those are there. By stage: sampling 50.2 %, policy learns 32.8 %.':
    '从一步开始到得到它的数值，中位数为 3.71 秒：这是延迟，因为在此之前下一步就已开始。按环节：采样 50.2%、策略学习 32.8%。',
  'From step 0 to 45 greedy held-out accuracy did not change clearly: 77.3 %, then 85.9 %.':
    '从第 0 步到第 45 步，贪心解码的留出准确率的变化在误差范围内（77.3% → 85.9%）。',
  'From step 1 to 20 the mean score of samples rose from 64.0 % to 88.0 %, each a mean over 5 steps.':
    '从第 1 步到第 20 步，样本的平均得分从 64.0% 升到 88.0%，取 5 步的平均值。',
  'From step 1 to 20 the mean score of samples did not change clearly: 64.0 %, then 76.0 %, each a mean over 5 steps.':
    '从第 1 步到第 20 步，样本的平均得分的变化在误差范围内（64.0% → 76.0%，取 5 步的平均值）。',
  'From step 0 to 20 greedy held-out accuracy did not change clearly: 77.3 %, then 85.9 %. Meanwhile the mean score of samples rose from 64.0 % to 88.0 %, each a mean over 5 steps.':
    '从第 0 步到第 20 步，贪心解码的留出准确率的变化在误差范围内（77.3% → 85.9%）。同时，样本的平均得分从 64.0% 升到 88.0%，取 5 步的平均值。',
  'embedding, raw state': '嵌入层，原始状态',
  'reward model, then PPO, lr 2e-4': '先奖励模型，再 PPO，学习率 2e-4',
  '0, certain': '0，确定',
  'NVIDIA H100, from bench/results/layers': 'NVIDIA H100，来自 bench/results/layers',
  'calculator and lookup': '计算器、查表',
  ') 4.5 %, entropy 3.25 nats, 1 follows with 4.0 %': ') 4.5%，熵 3.25 nats，后接 1，概率 4.0%',
  'held-out accuracy, greedy, at the end: GRPO, seed 2 3.0 %':
    '留出准确率（贪心）、末值：GRPO，种子 2 3.0%',
  'Pin “grad norm”': '置顶“grad norm”',
  'Newest values. mean: 0.37, between 0.37 and 1.5; smallest: 0, between 0 and 0.':
    '最新值。平均：0.37，在 0.37 和 1.5 之间；最小：0，在 0 和 0 之间。',
  'Scores 0.500, 0.501, 0.500, 0.500: advantages −2.5e-4, 7.5e-4, −2.5e-4, −2.5e-4.':
    '得分 0.500、0.501、0.500、0.500：优势 −2.5e-4、7.5e-4、−2.5e-4、−2.5e-4。',
  'trains the final policy on the reward model’s scores': '按奖励模型的打分训练最终策略',
  '5 runs, seeds 1, 2, 3, 4, 5': '5 次运行，种子 1、2、3、4、5',
  'Measured: \ue000, on \ue001.': '测量：\ue000，GPU \ue001。',
  '−1.1 [−2.4, +0.2] points, 6 seeds, p 0.244 after Holm':
    '−1.1 [−2.4, +0.2] 个百分点，6 个种子，Holm 校正后 p 0.244',
  'final policy, nats. Step 40. final policy: 3.252 nats':
    '最终策略，nats。第 40 步。最终策略：3.252 nats',
  'interval low, points': '区间下限，个百分点',
  'After step 20, layer 2 tells the next token of the right answer best: 41.2 %. The first that tells it better than shuffled labels is the embedding. After step 10, the embedding told it for 50.0 %.':
    '第 20 步之后，第 2 层判断正确答案的下一个 token 最准：41.2%。最早比打乱标签时更准的是嵌入层。第 10 步之后，嵌入层判断对的占 50.0%。',
  'Held-out answer tokens at which the layer tells the next token of the right answer, %':
    '留出题目的答案 token 中，该层能判断对正确答案的下一个 token 的比例（%）',
  'cosine with layer 2': '与第 2 层的余弦',
  '5. Advantages.': '5. 优势。',
  // Names stay, and are joined as Chinese joins them.
  'Better than no KL by 12.0 to 28.2 points: KL 0.05, KL 0.2, KL 1. 5 seeds.':
    'KL 0.05、KL 0.2、KL 1 比没有 KL 好 12.0 到 28.2 个百分点。5 个种子。',
  'Worse than k = 0 by 7.1 to 13.9 points: k = 2, k = 4, k = 8. 5 seeds.':
    'k = 2、k = 4、k = 8 比 k = 0 差 7.1 到 13.9 个百分点。5 个种子。',
  'The runs come from different adapters (NVIDIA H100 and SwiftShader): differences between arms may be differences between machines.':
    '这些运行来自不同的 GPU（NVIDIA H100、SwiftShader）：实验组之间的差异可能是机器之间的差异。',
  'TRL’s GRPOTrainer cannot run this experiment: the phase’s adv_estimator is reinforce_plus_plus: expected grpo, grpo_vectorized, grpo_batch_std or rloo':
    'TRL 的 GRPOTrainer 无法运行此实验：本阶段的 adv_estimator 为 reinforce_plus_plus：应为 grpo、grpo_vectorized、grpo_batch_std 或 rloo',
  'TRL’s GRPOTrainer cannot run this experiment: the phase’s adv_estimator is gae: expected grpo or rloo':
    'TRL 的 GRPOTrainer 无法运行此实验：本阶段的 adv_estimator 为 gae：应为 grpo 或 rloo',
  'Comparison of 6 runs \ue000': '6 次运行的比较 \ue000',
  'imported from TRL’s trainer_state.json': '导入自 TRL 的 trainer_state.json',
  // As beside what a row leaves out.
  '\ue000imported from TRL’s trainer_state.json': '\ue000导入自 TRL 的 trainer_state.json',
  'BuPO, layer 1 first (n = 3)': 'BuPO，先训练第 1 层（n = 3）',
  'BuPO, layer 1 first (n = 3), low': 'BuPO，先训练第 1 层（n = 3），低',
  'Over the first 80 steps: They end alike in held-out accuracy, gsm8k: 59.5 %.':
    '只看前 80 步：gsm8k 留出准确率最终都相同：59.5%。',
  'Over the first 80 steps: No clear difference in held-out accuracy, gsm8k (mean of 4). 2 runs are not finished and are left out.':
    '只看前 80 步：gsm8k（4 次回答的平均值）留出准确率没有明显差别。有 2 次运行尚未完成，未计入。',
  'Over the first 80 steps: “B” ends 9 points above “A” in held-out accuracy, greedy, paired by the 3 seeds that both have; too few seeds to say more. “C” is paused and is left out.':
    '只看前 80 步：“B”的留出准确率（贪心）（按双方都有的那 3 个种子配对）最终比“A”高 9 个百分点；种子太少，无法多说。“C”已暂停，未计入。',
  'Over the first 80 steps: “B” ends 9 points above “A” in held-out accuracy, greedy. But it ends 16.4 points below in held-out accuracy, sampled.':
    '只看前 80 步：“B”的留出准确率（贪心）最终比“A”高 9 个百分点。但在留出准确率（采样）上它最终低 16.4 个百分点。',
  // What is quoted is one thing, whatever signs it holds.
  'They took 10 to 45 steps; with all of them they end so: “BuPO (GRPO), layer 2 first” at 94.5 %, “BuPO (GRPO), layer 2 first, phase 2: 6 steps, seed 2” at 87.5 %.':
    '它们用了 10 到 45 步；各自走完全部步数时：“BuPO（GRPO），先训练第 2 层”为 94.5%、“BuPO（GRPO），先训练第 2 层，阶段 2：6 步，种子 2”为 87.5%。',
  'o.parquet: expected a Parquet file that can be read (CompileError: the module is not allowed to be compiled here, as a policy of the page says)':
    'o.parquet：应为可读取的 Parquet 文件（CompileError: the module is not allowed to be compiled here, as a policy of the page says）',
  'From step 30 to 120 the held-out mean of answers, “letters”, rose from 55.0 % to 77.5 %.':
    '从第 30 步到第 120 步，“letters”留出题目的平均得分从 55.0% 升到 77.5%。',
  'From step 1 to 11 layer 2 changed most: it fell from 1.928 to 0.959 nats.':
    '从第 1 步到第 11 步，第 2 层变化最大：从 1.928 降到 0.959 nats。',
  'critic warm-up, share': 'critic 预热比例',
  'critic alone': '只训练 critic',
  'phase 1: Newton–Schulz factor a': '阶段 1：Newton–Schulz 系数 a',
  'The light reached layer 2 first: by step 4 its entropy fell from 1.93 to 1.30 nats; that of the final policy only from 1.42 to 1.31 nats.':
    '光最先照到第 2 层：到第 4 步，它的熵从 1.93 降到 1.30 nats；最终策略的熵仅从 1.42 降到 1.31 nats。',
  // A data set may be called as a unit is.
  'held-out accuracy, letters': '“letters”留出准确率',
  'Held-out accuracy, letters (greedy)': '“letters”（贪心）留出准确率',
  'Held-out mean of answers, digits': '留出平均得分、“digits”',
  '3 letters': '3 个字母',
  'Tokenizer: a tokenizer.json': '分词器：tokenizer.json',
  'Entropy by layer and step of GRPO; at the end, in nats, the embedding: 3.24, layer 1: 2.42, final policy: 0.318':
    'GRPO 各层各步的熵；结束时（nats）为嵌入层：3.24、第 1 层：2.42、最终策略：0.318',
  'tuned lens fitted after step 4 and 8': '第 4、8 步之后拟合的调优透镜',
  'The link that opened this page locks 设置 and hides 样本.':
    '打开本页的链接锁定了设置，并隐藏了样本。',
  '\ue000, whole model.': '\ue000，整个模型。',
  // An element that is left out leaves its space.
  'Reading the rows …': '正在读取各行…',
  'Held-out accuracy (4 samples): difference from “32 × 8, GRPO”, points':
    '留出准确率（4 个样本）：差异，对比“32 × 8、GRPO”，个百分点',
  'Held-out accuracy (greedy): difference from lr 0.001, points':
    '留出准确率（贪心）：差异，对比学习率 0.001，个百分点',
  'actor.shuffle (off): it shuffles the responses of a batch once, always.':
    'actor.shuffle（off）：它总是把一个批次的回答打乱一次。',
  '32 × 8, GRPO, low': '32 × 8、GRPO，低',
  '32 × 8, GRPO': '32 × 8、GRPO',
  'At step 45 the model names 15 of 16 tokens of 4 held-out answers; layer 2 would name 14, the embedding 2.':
    '在 4 道留出题目的答案（共 16 个 token）中，第 45 步的模型说对 15 个，第 2 层会说对 14 个，嵌入层会说对 2 个。',
  'The final policy hardly changed its entropy (−0.03 nats).':
    '最终策略的熵几乎没有变化（−0.03 nats）。',
  'The vocabulary of this model has no "你", " ", "a": write the text without them.':
    '此模型的词表没有“你”、“空格”、“a”：写文本时请不要用它们。',
  '4 B parameters': '40 亿个参数',
  'The vocabulary of this model has no "你", "好": write the text without them.':
    '此模型的词表没有“你”、“好”：写文本时请不要用它们。',
  'All arms begin from “Tiny: GRPO, as many rollouts”. These are changed: 60 steps in place of 30; validation every 20 steps; lr 0.001.':
    '所有实验组都从“微型：GRPO，同样多的 rollout”出发。改动：步数 60（原为 30）；验证间隔 20 步；学习率 0.001。',
  'All arms begin from “Tiny: GRPO, as many rollouts” as it is.':
    '所有实验组都从“微型：GRPO，同样多的 rollout”（不作改动）出发。',
  '186 tokens/s': '186 token/秒',
  // What is counted has its measure word.
  '0 epochs': '0 轮',
  '3 of 12 verdicts; then training begins.': '已有 3/12 个偏好标注；之后开始训练。',
  '1 verdict; each further one is used as it comes. 5 pairs left.':
    '1 个偏好标注；之后的每一个随来随用。剩 5 对。',
  'In your order: 84 % of 62 held-out pairs with 15 prompts that no training pair has':
    '顺序与你一致的占 84%，共 62 个留出偏好对（15 个提示，都不出现在训练偏好对中）',
  '1,400 rows to train on, 1 row held out; 14 tokens in the vocabulary.':
    '1,400 行用于训练，1 行留出；词表中有 14 个 token。',
  '12 good answers and 1 bad one: KTO learns from all of them; good answers can be imitated.':
    '12 个好的回答和 1 个差的回答：KTO 从全部回答中学习；好的回答可供模仿。',
  '1 part of the file could not be read and was left out, the first of them line 4 of x.log (no step).':
    '文件有 1 处无法读取，已略去，第一处是 x.log 的第 4 行（没有步数）。',
  'From step 10 to 40, raw state: below the final policy the entropy of layer 2 moved most, from 3.2 to 2 nats; that of the final policy went from 1.4 to 1.1 nats.':
    '第 10 步到第 40 步，原始状态：在最终策略以下，第 2 层的熵变化最大，从 3.2 降到 2 nats；最终策略的熵从 1.4 降到 1.1 nats。',
}

test('what runs say is wholly in Chinese', () => {
  for (const [text, chinese] of Object.entries(OF_RUNS)) expect(texts.translate(text)).toBe(chinese)
})

test('a text without a translation is given up soon, however many parts it has', () => {
  asked = 0
  const names = Array.from({ length: 11 }, (_, i) => `seq_mean_k${i}`).join(', ')
  texts.translate(`0 = off. What must be met (${names}); empty = off, and so on. Nobody knows it.`)
  expect(asked).toBeLessThan(2_000)
})

test('every text is found again by what is made from it', () => {
  const bare = (text: string) => text.replace(/\s/g, '')
  const lost = [...SAID.keys()].filter(
    (key) =>
      !IS_UNSURE.test(key) &&
      bare(texts.translate(filled(key))) !== bare(filled(SAID.get(key) ?? '')),
  )
  expect(lost).toEqual([])
  expect(SAID.size).toBeGreaterThan(5000)
})

test('a text at the end of a sentence, and a setting of one word, are said as they are elsewhere', () => {
  const ended = {
    'A recording is open: leave it first.': '有一个录制正打开着：请先退出。',
    ', layer 2.': '，第 2 层。',
    'Temperature: expected a number': '温度：应填一个数',
    'Phase 2: Steps: expected a number': '阶段 2 的步数：应填一个数',
    'Alain and Bengio, Linear classifier probes. \ue000':
      'Alain 与 Bengio，Linear classifier probes。\ue000',
    // What a name means was said before.
    'REINFORCE++: 没有组': 'REINFORCE++：没有组',
  }
  for (const [text, chinese] of Object.entries(ended)) expect(texts.translate(text)).toBe(chinese)
  expect(texts.translate('temperature: expected a number')).toMatch(/^temperature：/)
})

/** Kinds of faults, each with what one writes instead. */
const FAULTS: Readonly<Record<string, RegExp>> = {
  'no space stands beside a sign': /[。，；：、？！] (?!\{|- )|(?<![ }]) （|） (?![A-Za-z\d{])/,
  'no space stands between words':
    /^(?!.*(?:图表|回答|比较|实验组|显存) ).*\p{Script=Han} \p{Script=Han}/u,
  'a unit of time is a word: 秒, 毫秒': /(?:\d|\}) m?s(?![\w/])/,
  'expected and found are 应为 and 实际为': /当前为|(?<!实际)实为|应[有为].*，(?:却|但)没有/,
  'a mean is 平均值, a clip of its own kind 双重裁剪': /(?<!平|四分位距)均值|第三个界的/,
  'at most is 最多, this run 这次运行, a token token': /至多|本次运行|词元|您/,
  'a job is 训练任务, a turn 轮, a fork fork, a verdict 偏好标注': /作业|回合|分叉|裁决/,
  'a click is 点击, the browser 此浏览器': /单击|点按|(?:这个|本)浏览器/,
  'a list is joined by 、 and 和': /\p{Script=Han},? (?:and|or) |,\p{Script=Han}{2,},/u,
}

test('no translation has a fault of a known kind', () => {
  const found = [...SAID.values()].flatMap((said) =>
    Object.entries(FAULTS).flatMap(([kind, sign]) => (sign.test(said) ? [`${kind}: ${said}`] : [])),
  )
  expect(found).toEqual([])
})
