"""面板的颜色与样式：一套调色板，一份 CSS。

颜色取自 JupyterLab 自己的 CSS 变量，逗号后面是没有 JupyterLab 时（GitHub、导出的网页）
用的浅色。格子的颜色由 ``color-mix`` 在“纯色”与“底色”之间按份额调出来，不透明，
所以深色主题里不会发黑。权重用蓝色由浅到深；有正负的数用蓝与橙，这两种颜色色盲也分得开。
"""

# 深色主题的底色是深的，格子越满越亮，到了这个份额就要换成黑字，对比度才不低于 4.5;
# 浅色主题里黑字一直够用。两个数由 tests/test_panels.py 按两个主题的真实颜色验算。
BLACK_TEXT_FROM = {"positive": 76, "negative": 60}

STYLE = """
.ac-svg{font-family:var(--jp-content-font-family,system-ui,sans-serif);font-size:13px;\
font-variant-numeric:tabular-nums}
.ac-svg text{fill:var(--jp-ui-font-color0,#000)}
.ac-svg .ac-title{font-size:14px;font-weight:600}
.ac-svg .ac-strong{font-weight:700}
.ac-svg .ac-black{fill:#000}
.ac-svg .ac-tight{font-size:12px}
.ac-svg .ac-halo{paint-order:stroke;stroke:var(--jp-layout-color1,#fff);stroke-width:5px;stroke-linejoin:round}
.ac-cut{fill:none;stroke:var(--jp-layout-color1,#fff);stroke-width:2}
.ac-ground{fill:var(--jp-layout-color1,#fff)}
.ac-cell{stroke:var(--jp-border-color2,#e0e0e0);stroke-width:1}
.ac-positive{fill:color-mix(in srgb,var(--jp-brand-color1,#1976d2) var(--w),\
var(--jp-layout-color1,#fff))}
.ac-negative{fill:color-mix(in srgb,var(--jp-warn-color1,#f57c00) var(--w),\
var(--jp-layout-color1,#fff))}
.ac-bar-positive{fill:var(--jp-brand-color1,#1976d2)}
.ac-bar-negative{fill:var(--jp-warn-color1,#f57c00)}
.ac-line{fill:none;stroke:var(--jp-ui-font-color0,#000);stroke-width:1}
.ac-faint{fill:none;stroke:var(--jp-border-color1,#bdbdbd);stroke-width:1}
.ac-ask{fill:none;stroke:var(--jp-ui-font-color0,#000);stroke-width:2.5}
.ac-shut{fill:none;stroke:var(--jp-ui-font-color2,#757575);stroke-width:1}
.ac-curve{fill:none;stroke-width:2.5}
.ac-curve-0{stroke:var(--jp-brand-color1,#1976d2)}
.ac-curve-1{stroke:var(--jp-warn-color1,#f57c00);stroke-dasharray:7 3}
.ac-curve-2{stroke:var(--jp-ui-font-color0,#000);stroke-dasharray:2 3}
.ac-point{fill:var(--jp-warn-color1,#f57c00);stroke:var(--jp-ui-font-color0,#000);stroke-width:1.5}
""".strip()

# 只用在笔记本页面上的规则：排版、焦点框、给读数和结论留位置。积木可以缩到 320 像素的 0.8875 倍
# （284 像素，400 像素宽的窗口里剩下的宽度）：700 像素宽的窗口因此放得下两列，滑块和图同时看得见。
PAGE_STYLE = """
.ac-view{display:flex;flex-wrap:wrap;gap:10px;align-items:flex-start}
.ac-view svg{flex:1 1 calc(var(--width)*.8875);max-width:min(100%,var(--width));height:auto}
.ac-panel{overflow:hidden}
.ac-panel .widget-readout{min-width:5.5em;white-space:nowrap;overflow:hidden}
.ac-panel .noUi-handle:focus-visible,.ac-panel input:focus-visible,.ac-panel select:focus-visible,\
.ac-panel button:focus-visible{outline:3px solid var(--jp-brand-color1,#1976d2);outline-offset:2px}
.ac-finding .widget-html-content{white-space:normal;line-height:1.5;min-height:3em;\
color:var(--jp-content-font-color1,#000)}
@media (max-width:900px){.ac-finding .widget-html-content{min-height:4.5em}}
@media (max-width:500px){.ac-finding .widget-html-content{min-height:7.5em}}
.ac-stale{opacity:.35}
.jp-OutputArea:has(.ac-panel) .ac-still{display:none}
""".strip()
