"""The gallery: pictures of what units do, one kind of picture per file, and a page that shows them."""
