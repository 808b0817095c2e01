//! Pages of A4 with texts and lines on them.

use super::font::{Face, encoded, width};
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

/// Points.
pub(super) const WIDTH: f32 = 595.28;
pub(super) const HEIGHT: f32 = 841.89;
pub(super) const LEFT: f32 = 56.0;
pub(super) const RIGHT: f32 = WIDTH - 56.0;

/// From which side a text is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// It begins there.
    Left,
    /// It ends there.
    Right,
}

/// How a text looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) face: Face,
    pub(super) size: f32,
    /// 0 is black.
    pub(super) gray: f32,
}

impl Style {
    pub(super) const PLAIN: Self = Self { face: Face::Plain, size: 9.0, gray: 0.1 };
    pub(super) const BOLD: Self = Self { face: Face::Bold, ..Self::PLAIN };
    pub(super) const SMALL: Self = Self { size: 8.0, gray: 0.45, ..Self::PLAIN };
    pub(super) const TITLE: Self = Self { face: Face::Bold, size: 24.0, gray: 0.15 };
    pub(super) const TOTAL: Self = Self { face: Face::Bold, size: 11.0, gray: 0.0 };
}

/// A document in the making.
pub(super) struct Paper {
    pages: Vec<Content>,
}

impl Paper {
    /// With one page.
    pub(super) fn new() -> Self {
        Self { pages: vec![Content::new()] }
    }

    /// Another page comes.
    pub(super) fn turn(&mut self) {
        self.pages.push(Content::new());
    }

    fn page(&mut self) -> Option<&mut Content> {
        self.pages.last_mut()
    }

    /// A text on the last page.
    pub(super) fn text(&mut self, (x, y): (f32, f32), side: Side, style: Style, text: &str) {
        if let Some(page) = self.page() {
            write(page, (x, y), side, style, text);
        }
    }

    /// A line from side to side.
    pub(super) fn rule(&mut self, y: f32, gray: f32) {
        if let Some(page) = self.page() {
            page.set_stroke_gray(gray).set_line_width(0.6);
            page.move_to(LEFT, y).line_to(RIGHT, y).stroke();
        }
    }

    /// A grey band from side to side, upwards from `y`.
    pub(super) fn band(&mut self, y: f32, height: f32) {
        if let Some(page) = self.page() {
            page.set_fill_gray(0.93).rect(LEFT, y, RIGHT - LEFT, height).fill_nonzero();
        }
    }

    /// The document, with a footer on each page that says which of how many it is.
    pub(super) fn finish(mut self, title: &str) -> Vec<u8> {
        let count = self.pages.len();
        for (at, page) in self.pages.iter_mut().enumerate() {
            write(page, (LEFT, 34.0), Side::Left, Style::SMALL, title);
            let number = format!("Page {} of {count}", at + 1);
            write(page, (RIGHT, 34.0), Side::Right, Style::SMALL, &number);
        }
        let mut next = 0;
        let mut fresh = || {
            next += 1;
            Ref::new(next)
        };
        let (catalog, tree, info) = (fresh(), fresh(), fresh());
        let (plain, bold) = (fresh(), fresh());
        let ids: Vec<_> = self.pages.iter().map(|_| (fresh(), fresh())).collect();
        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(tree);
        let kids = ids.iter().map(|(page, _)| *page);
        pdf.pages(tree).kids(kids).count(i32::try_from(count).unwrap_or(i32::MAX));
        pdf.document_info(info).title(TextStr(title)).producer(TextStr("Berth"));
        for (id, name) in [(plain, &b"Helvetica"[..]), (bold, b"Helvetica-Bold")] {
            let mut font = pdf.type1_font(id);
            font.base_font(Name(name)).encoding_predefined(Name(b"WinAnsiEncoding"));
        }
        for (content, (id, stream)) in self.pages.into_iter().zip(ids) {
            let mut page = pdf.page(id);
            page.parent(tree).media_box(Rect::new(0.0, 0.0, WIDTH, HEIGHT)).contents(stream);
            let mut resources = page.resources();
            resources.fonts().pair(NAMES[0], plain).pair(NAMES[1], bold);
            resources.finish();
            page.finish();
            pdf.stream(stream, &content.finish());
        }
        pdf.finish()
    }
}

const NAMES: [Name<'static>; 2] = [Name(b"F1"), Name(b"F2")];

fn write(page: &mut Content, (x, y): (f32, f32), side: Side, style: Style, text: &str) {
    let Style { face, size, gray } = style;
    let x = if side == Side::Right { x - width(text, face, size) } else { x };
    let name = NAMES[usize::from(face == Face::Bold)];
    page.set_fill_gray(gray).begin_text().set_font(name, size).next_line(x, y);
    page.show(Str(&encoded(text))).end_text();
}
