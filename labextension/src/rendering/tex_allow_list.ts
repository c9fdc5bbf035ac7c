/**
 * Which formulas are drawn: those made only of TeX's commands for mathematics. MathJax also knows commands
 * (`\style`, `\class`, `\href`, `\require`, `\def`, …) that reach into the page or load something; a formula
 * with a command not listed here is shown as its source.
 */

const MAX_CHARS = 4_000;
const MAX_DEPTH = 60;

const COMMANDS = new Set(
  `
  alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa varkappa lambda mu nu xi omicron pi varpi
  rho varrho sigma varsigma tau upsilon phi varphi chi psi omega digamma
  Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega varGamma varDelta varTheta varLambda varXi varPi varSigma
  varUpsilon varPhi varPsi varOmega
  aleph beth gimel daleth hbar hslash ell wp Re Im imath jmath partial nabla infty emptyset varnothing eth complement
  forall exists nexists neg lnot top bot angle measuredangle sphericalangle triangle triangledown square Box blacksquare
  blacktriangle lozenge blacklozenge bigstar clubsuit diamondsuit heartsuit spadesuit flat natural sharp prime backprime
  surd checkmark circledR circledS degree Bbbk mho Finv
  pm mp times div cdot ast star circ bullet bigcirc oplus ominus otimes oslash odot dagger ddagger amalg cap cup uplus
  sqcap sqcup vee lor wedge land setminus smallsetminus wr diamond bigtriangleup bigtriangledown triangleleft
  triangleright lhd rhd unlhd unrhd ltimes rtimes leftthreetimes rightthreetimes bowtie boxplus boxminus boxtimes boxdot
  circledast circledcirc circleddash dotplus intercal barwedge veebar doublebarwedge Cap Cup
  le leq ge geq ne neq lt gt ll gg lll ggg leqq geqq leqslant geqslant lesssim gtrsim lessapprox gtrapprox lessgtr
  gtrless lesseqgtr gtreqless equiv sim simeq approx approxeq cong doteq doteqdot propto varpropto asymp models perp mid
  nmid parallel nparallel vdash dashv Vdash vDash Vvdash smile frown in notin ni owns subset supset subseteq supseteq
  subseteqq supseteqq subsetneq supsetneq nsubseteq nsupseteq sqsubset sqsupset sqsubseteq sqsupseteq prec succ preceq
  succeq precsim succsim preccurlyeq succcurlyeq nless ngtr nleq ngeq nsim ncong nprec nsucc trianglelefteq
  trianglerighteq vartriangle vartriangleleft vartriangleright between pitchfork because therefore coloneqq eqqcolon
  backsim backsimeq bumpeq Bumpeq eqcirc circeq triangleq thicksim thickapprox not
  leftarrow gets rightarrow to leftrightarrow Leftarrow Rightarrow Leftrightarrow longleftarrow longrightarrow
  longleftrightarrow Longleftarrow Longrightarrow Longleftrightarrow implies impliedby iff mapsto longmapsto uparrow
  downarrow updownarrow Uparrow Downarrow Updownarrow nearrow searrow swarrow nwarrow hookleftarrow hookrightarrow
  leftharpoonup leftharpoondown rightharpoonup rightharpoondown rightleftharpoons leftrightharpoons upharpoonleft
  upharpoonright downharpoonleft downharpoonright leftleftarrows rightrightarrows upuparrows downdownarrows
  leftrightarrows rightleftarrows twoheadleftarrow twoheadrightarrow leftarrowtail rightarrowtail rightsquigarrow
  leadsto leftrightsquigarrow curvearrowleft curvearrowright circlearrowleft circlearrowright nleftarrow nrightarrow
  nLeftarrow nRightarrow nleftrightarrow nLeftrightarrow multimap dashleftarrow dashrightarrow xleftarrow xrightarrow
  sum prod coprod int iint iiint oint bigcap bigcup bigsqcup bigvee bigwedge bigodot bigotimes bigoplus biguplus limits
  nolimits displaylimits
  frac dfrac tfrac cfrac binom dbinom tbinom over atop choose sqrt root of stackrel overset underset substack sideset
  overbrace underbrace overline underline overrightarrow overleftarrow overleftrightarrow underrightarrow
  underleftarrow widehat widetilde hat check breve acute grave tilde bar vec dot ddot dddot ddddot mathring boxed
  phantom hphantom vphantom smash mathstrut strut
  arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf injlim ker lg lim liminf limsup ln log max
  min Pr projlim sec sin sinh sup tan tanh varlimsup varliminf varinjlim varprojlim operatorname mod bmod pmod pod
  left right middle big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr bigm Bigm biggm Biggm lbrace rbrace
  lbrack rbrack langle rangle lvert rvert vert lVert rVert Vert lceil rceil lfloor rfloor lgroup rgroup lmoustache
  rmoustache ulcorner urcorner llcorner lrcorner backslash
  mathrm mathbf mathit mathsf mathtt mathcal mathscr mathfrak mathbb mathnormal boldsymbol bm pmb rm bf it sf tt cal
  text textrm textbf textit textsf texttt textnormal mbox emph
  displaystyle textstyle scriptstyle scriptscriptstyle
  quad qquad enspace thinspace medspace thickspace negthinspace negmedspace negthickspace nobreakspace space
  ldots cdots vdots ddots dots dotsb dotsc dotsi dotsm dotso colon
  begin end hline hdashline cr newline nonumber notag tag
  mathbin mathrel mathop mathord mathopen mathclose mathpunct mathinner
  S P dag ddag copyright pounds yen
  `
    .trim()
    .split(/\s+/)
);
/** Commands of one non-letter character. */
const SIGNS = new Set([...'\\,:;!> {}|#$%&_.()[]"-', '\n']);
const ENVIRONMENTS = new Set(
  (
    'equation equation* align align* alignat alignat* aligned alignedat gather gather* gathered multline multline* ' +
    'split cases rcases dcases array subarray matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix eqnarray ' +
    'eqnarray* flalign flalign* numcases'
  ).split(' ')
);
const COMMAND = /\\([a-zA-Z]+|[\s\S]|$)/g;
const ENVIRONMENT = /^\s*\{([^{}]*)\}/;

/** Whether every command of a formula is a mathematical one. MathJax sees the same text. */
export function isPlainTex(formula: string): boolean {
  if (formula.length > MAX_CHARS || depthOf(formula) > MAX_DEPTH) {
    return false;
  }
  for (const found of formula.matchAll(COMMAND)) {
    const name = found[1];
    if (!COMMANDS.has(name) && !SIGNS.has(name)) {
      return false;
    }
    if (name === 'begin' || name === 'end') {
      const environment = ENVIRONMENT.exec(formula.slice(found.index + name.length + 1, found.index + 60));
      if (!environment || !ENVIRONMENTS.has(environment[1])) {
        return false;
      }
    }
  }
  return true;
}

function depthOf(formula: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of formula) {
    depth += character === '{' ? 1 : character === '}' ? -1 : 0;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
